import os


def check_file(file):
    if os.path.exists(file):
        return file
    raise FileNotFoundError(f"'{file}' does not exist")
