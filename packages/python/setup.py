from setuptools import setup

setup(cffi_modules=["build_raw.py:ffibuilder"])
