find_package(Torch REQUIRED)
