// Recurrent networks of cuDNN: the sizes of weights and work space, and where each matrix lies
// among the weights.
#include <initializer_list>
#include <numeric>

#include "tests/sim/standins/cudnn_descriptors.h"
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kCellLstm = 2;
constexpr int kCellGru = 3;
constexpr int kNoBias = 0;
constexpr int kSingleInputBias = 1;
constexpr int kDoubleBias = 2;
constexpr int kBidirectional = 1;

std::int64_t Gates(const RnnDescriptor& rnn) {
  if (rnn.cell == kCellLstm) return 4;
  return rnn.cell == kCellGru ? 3 : 1;
}

std::int64_t Directions(const RnnDescriptor& rnn) { return rnn.bidirectional ? 2 : 1; }

// The width of what a layer hands on: an LSTM may project its hidden state.
std::int64_t OutputWidth(const RnnDescriptor& rnn) {
  return rnn.projection > 0 ? rnn.projection : rnn.hidden;
}
bool Projects(const RnnDescriptor& rnn) {
  return rnn.projection > 0 && rnn.projection != rnn.hidden;
}

// Weights of one layer in one direction: the input matrix of every gate, the recurrent matrix of
// every gate, the projection; then the biases of both in the same order. Matrices of one kind lie
// side by side.
struct LayerLayout {
  std::int64_t gates;
  std::int64_t hidden;
  std::int64_t input;
  std::int64_t output;
  std::int64_t biases;
  bool projects;

  std::int64_t ProjectionOffset() const { return gates * hidden * (input + output); }
  std::int64_t Matrices() const { return ProjectionOffset() + (projects ? hidden * output : 0); }
  std::int64_t Elements() const { return Matrices() + biases * gates * hidden; }
};

LayerLayout LayoutOf(const RnnDescriptor& rnn, std::int64_t pseudo_layer) {
  const bool first = pseudo_layer < Directions(rnn);
  const std::int64_t biases = rnn.bias == kNoBias ? 0 : rnn.bias == kDoubleBias ? 2 : 1;
  return {Gates(rnn),       rnn.hidden, first ? rnn.input : OutputWidth(rnn) * Directions(rnn),
          OutputWidth(rnn), biases,     Projects(rnn)};
}

std::int64_t OffsetOfLayer(const RnnDescriptor& rnn, std::int64_t pseudo_layer) {
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < pseudo_layer; ++i) offset += LayoutOf(rnn, i).Elements();
  return offset;
}

// A vector or matrix that is absent has no address and no dimensions.
void Describe(TensorDescriptor* description, int type, std::initializer_list<std::int64_t> sizes) {
  *description = {};
  description->type = type;
  for (std::int64_t size : sizes)
    description->size[description->dimensions++] = static_cast<int>(size);
  int stride = 1;
  for (int i = description->dimensions - 1; i >= 0; --i) {
    description->stride[i] = stride;
    stride *= description->size[i];
  }
}

void* At(void* weights, std::int64_t element, int type) {
  return static_cast<char*>(weights) + static_cast<std::size_t>(element) * BytesOfElement(type);
}

struct Matrix {
  std::int64_t offset;
  std::int64_t columns;
  std::int64_t rows;
};

// Numbers 0 .. gates-1 are input matrices, gates .. 2 gates-1 recurrent ones, 2 gates the
// projection.
Matrix MatrixOf(const LayerLayout& layer, std::int64_t number) {
  if (number < layer.gates) return {number * layer.hidden * layer.input, layer.input, layer.hidden};
  if (number < 2 * layer.gates) {
    const std::int64_t recurrent = number - layer.gates;
    return {layer.hidden * (layer.gates * layer.input + recurrent * layer.output), layer.output,
            layer.hidden};
  }
  return {layer.ProjectionOffset(), layer.hidden, layer.output};
}

struct Place {
  const RnnDescriptor& rnn;
  void* weights;
  std::int64_t base;
};

void Show(const Place& place, bool exists, std::int64_t offset,
          std::initializer_list<std::int64_t> sizes, Handle description, void** address) {
  *address = exists ? At(place.weights, place.base + offset, place.rnn.type) : nullptr;
  const std::initializer_list<std::int64_t> none;
  Describe(static_cast<TensorDescriptor*>(description), place.rnn.type, exists ? sizes : none);
}

bool HasBias(const RnnDescriptor& rnn, const LayerLayout& layer, std::int64_t number) {
  if (rnn.bias == kNoBias || number >= 2 * layer.gates) return false;
  if (rnn.bias == kDoubleBias) return true;
  return (number < layer.gates) == (rnn.bias == kSingleInputBias);
}

}  // namespace

CUHEAP_STANDIN int cudnnCreateRNNDescriptor(Handle* description) {
  return Create<RnnDescriptor>(description);
}
CUHEAP_STANDIN int cudnnDestroyRNNDescriptor(Handle description) {
  return Destroy<RnnDescriptor>(description);
}
CUHEAP_STANDIN int cudnnCreateRNNDataDescriptor(Handle* description) {
  return Create<RnnDataDescriptor>(description);
}
CUHEAP_STANDIN int cudnnDestroyRNNDataDescriptor(Handle description) {
  return Destroy<RnnDataDescriptor>(description);
}

CUHEAP_STANDIN int cudnnSetRNNDescriptor_v8(Handle description, int, int cell, int bias,
                                            int direction, int, int type, int, int,
                                            std::int32_t input, std::int32_t hidden,
                                            std::int32_t projection, std::int32_t layers, Handle,
                                            std::uint32_t) {
  *static_cast<RnnDescriptor*>(description) = {
      cell, bias, direction == kBidirectional, type, input, hidden, projection, layers};
  return 0;
}

CUHEAP_STANDIN int cudnnSetRNNDataDescriptor(Handle description, int type, int layout, int steps,
                                             int batch, int width, const int* lengths, void*) {
  constexpr int kPacked = 1;  // CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED
  const std::int64_t padded = std::int64_t{steps} * batch;
  const std::int64_t packed =
      lengths == nullptr ? padded : std::accumulate(lengths, lengths + batch, std::int64_t{0});
  *static_cast<RnnDataDescriptor*>(description) = {type, steps, batch, width,
                                                   layout == kPacked ? packed : padded};
  return 0;
}

CUHEAP_STANDIN int cudnnGetRNNWeightSpaceSize(Handle, Handle description, std::size_t* bytes) {
  const auto& rnn = *static_cast<RnnDescriptor*>(description);
  const std::int64_t elements = OffsetOfLayer(rnn, rnn.layers * Directions(rnn));
  *bytes = static_cast<std::size_t>(elements) * BytesOfElement(rnn.type);
  return 0;
}

CUHEAP_STANDIN int cudnnGetRNNTempSpaceSizes(Handle, Handle description, int mode,
                                             Handle data_description, std::size_t* work_bytes,
                                             std::size_t* reserve_bytes) {
  constexpr int kInference = 0;
  const auto& rnn = *static_cast<RnnDescriptor*>(description);
  const auto& data = *static_cast<RnnDataDescriptor*>(data_description);
  const std::int64_t a_layer =
      std::int64_t{data.steps} * data.batch * rnn.hidden * Gates(rnn) * Directions(rnn);
  const std::size_t layer_bytes = static_cast<std::size_t>(a_layer) * BytesOfElement(rnn.type);
  if (work_bytes != nullptr) *work_bytes = layer_bytes;
  if (reserve_bytes != nullptr) {
    *reserve_bytes = mode == kInference ? 0 : layer_bytes * static_cast<std::size_t>(rnn.layers);
  }
  return 0;
}

// A caller may ask for the matrix only, or for the bias only: the other pair is null then.
CUHEAP_STANDIN int cudnnGetRNNWeightParams(Handle, Handle description, std::int32_t pseudo_layer,
                                           std::size_t, void* weights, std::int32_t number,
                                           Handle matrix_description, void** matrix_address,
                                           Handle bias_description, void** bias_address) {
  const auto& rnn = *static_cast<RnnDescriptor*>(description);
  const Place place{rnn, weights, OffsetOfLayer(rnn, pseudo_layer)};
  const LayerLayout layer = LayoutOf(rnn, pseudo_layer);
  if (matrix_description != nullptr) {
    const bool has_matrix = number < 2 * layer.gates || layer.projects;
    const Matrix matrix = MatrixOf(layer, number);
    Show(place, has_matrix, matrix.offset, {1, matrix.rows, matrix.columns}, matrix_description,
         matrix_address);
  }
  if (bias_description != nullptr) {
    const std::int64_t index = layer.biases == 2 ? number : number % layer.gates;
    const std::int64_t offset = layer.Matrices() + index * layer.hidden;
    Show(place, HasBias(rnn, layer, number), offset, {1, layer.hidden, 1}, bias_description,
         bias_address);
  }
  return 0;
}
