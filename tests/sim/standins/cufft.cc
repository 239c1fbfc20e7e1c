// cuFFT: plans, their work areas, and transforms. A plan is a number.
#include <map>
#include <memory>
#include <mutex>

#include "tests/sim/standins/enqueue.h"
#include "tests/sim/standins/types.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kInvalidPlan = 1;
constexpr int kInvalidValue = 4;
constexpr int kExecFailed = 6;

// How the points of one side lie: one extent for each dimension and the batch.
struct Side {
  int type = 0;
  std::vector<Extent> extents;
};

struct Plan {
  Side input;
  Side output;
  std::size_t work_bytes = 0;
  void* work = nullptr;
  Stream stream = nullptr;
};

std::mutex plans_mutex;

std::map<int, std::shared_ptr<Plan>>& Plans() {
  static auto& plans = *new std::map<int, std::shared_ptr<Plan>>;
  return plans;
}

std::shared_ptr<Plan> Find(int number) {
  const std::lock_guard lock(plans_mutex);
  const auto found = Plans().find(number);
  return found == Plans().end() ? nullptr : found->second;
}

bool IsComplex(int type) { return type == CUDA_C_16F || type == CUDA_C_32F || type == CUDA_C_64F; }

struct Layout {
  const long long* embed;
  long long stride;
  long long distance;
};

// Of a transform between real and complex points, the complex side has half of the last dimension
// and one more. Without `embed` the points follow each other, whatever the strides say.
Side SideOf(int type, int other, int rank, const long long* sizes, const Layout& layout,
            long long batch) {
  Side side{type, {}};
  const bool halved = IsComplex(type) && !IsComplex(other);
  long long stride = layout.embed == nullptr ? 1 : layout.stride;
  for (int i = rank - 1; i >= 0; --i) {
    const long long count = halved && i == rank - 1 ? sizes[i] / 2 + 1 : sizes[i];
    side.extents.push_back({count, stride});
    stride *= layout.embed == nullptr ? count : layout.embed[i];
  }
  side.extents.push_back({batch, layout.embed == nullptr ? stride : layout.distance});
  return side;
}

}  // namespace

CUHEAP_STANDIN int cufftCreate(int* plan) {
  static int last = 0;
  if (plan == nullptr) return kInvalidValue;
  const std::lock_guard lock(plans_mutex);
  Plans()[++last] = std::make_shared<Plan>();
  *plan = last;
  return 0;
}

CUHEAP_STANDIN int cufftDestroy(int plan) {
  const std::lock_guard lock(plans_mutex);
  return Plans().erase(plan) == 1 ? 0 : kInvalidPlan;
}

// The work area is one complex number for each point, which is what a plan of several passes needs.
CUHEAP_STANDIN int cufftXtMakePlanMany(int number, int rank, const long long* sizes,
                                       const long long* embed_in, long long stride_in,
                                       long long distance_in, int type_in,
                                       const long long* embed_out, long long stride_out,
                                       long long distance_out, int type_out, long long batch,
                                       std::size_t* workspace_bytes, int execution_type) {
  const std::shared_ptr<Plan> plan = Find(number);
  if (plan == nullptr) return kInvalidPlan;
  if (rank < 1 || rank > 3 || sizes == nullptr || workspace_bytes == nullptr || batch < 1)
    return kInvalidValue;
  auto points = static_cast<std::size_t>(batch);
  for (int i = 0; i < rank; ++i) points *= static_cast<std::size_t>(sizes[i]);
  plan->input = SideOf(type_in, type_out, rank, sizes, {embed_in, stride_in, distance_in}, batch);
  plan->output =
      SideOf(type_out, type_in, rank, sizes, {embed_out, stride_out, distance_out}, batch);
  plan->work_bytes = points * static_cast<std::size_t>(BitsOfType(execution_type)) / 8;
  *workspace_bytes = plan->work_bytes;
  return 0;
}

CUHEAP_STANDIN int cufftSetStream(int number, Stream stream) {
  const std::shared_ptr<Plan> plan = Find(number);
  if (plan == nullptr) return kInvalidPlan;
  plan->stream = stream;
  return 0;
}

CUHEAP_STANDIN int cufftSetWorkArea(int number, void* work) {
  const std::shared_ptr<Plan> plan = Find(number);
  if (plan == nullptr) return kInvalidPlan;
  plan->work = work;
  return 0;
}

CUHEAP_STANDIN int cufftXtExec(int number, void* input, void* output, int) {
  const std::shared_ptr<Plan> plan = Find(number);
  if (plan == nullptr) return kInvalidPlan;
  Touched touched;
  touched.Box(Access::kRead, input, plan->input.extents, BitsOfType(plan->input.type));
  touched.Box(Access::kWrite, output, plan->output.extents, BitsOfType(plan->output.type));
  touched.Bytes(Access::kWrite, plan->work, plan->work_bytes);
  return Enqueue(plan->stream, "cufftXtExec", touched) == 0 ? 0 : kExecFailed;
}
