// CallLazily reaches Chosen through a PLT entry that is bound at the first call, and the binder
// calls the resolver: callback <- resolver <- dynamic linker <- CallLazily.
extern "C" {

int (*lazy_callback)(void*) = nullptr;
void* lazy_context = nullptr;

static int Implementation() { return 7; }

static int (*ResolveChosen())() {
  if (lazy_callback != nullptr) lazy_callback(lazy_context);
  return Implementation;
}

int Chosen() __attribute__((ifunc("ResolveChosen")));

int CallLazily() { return Chosen() + 1; }
}
