// Read by AddressSanitizer when the tests are built with it: a request that is too large fails, as it does
// without the sanitizer, instead of ending the process.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
