# SPDX-License-Identifier: BSD-3-Clause
"""The Python package from a folder into which pip installed it, on the library of a prefix: consumer.py FOLDER PREFIX"""

import pathlib
import sys

folder, prefix = sys.argv[1:]
sys.path.insert(0, folder)
import sextant

library = pathlib.Path(sextant.library_path).resolve()
assert pathlib.Path(sextant.__file__).is_relative_to(folder), sextant.__file__
assert library.is_relative_to(pathlib.Path(prefix).resolve()), library
matrix = sextant.Matrix(([2.0, -1.0, -1.0, 2.0], [0, 1, 0, 1], [0, 2, 4]), context=sextant.Context("cpu"))
assert (matrix @ [1.0, 1.0]).tolist() == [1.0, 1.0]
print(f"sextant {sextant.__version__} on {library}")
