# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install build --prefix P` puts where, and the same layout of data in a build tree.
# The program finds its data from its own path, so an installation may be moved as a whole.
include(GNUInstallDirs)

set(AW_DATA ${CMAKE_INSTALL_DATADIR}/arcwake)
set(AW_DOC ${CMAKE_INSTALL_DATADIR}/doc/arcwake)
file(RELATIVE_PATH AW_DATA_FROM_PROGRAM "${CMAKE_INSTALL_FULL_BINDIR}"
     "${CMAKE_INSTALL_FULL_DATADIR}/arcwake")

# In a build tree: links to the sources, and to the Python environment that tools/setup.sh makes.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/arcwake)
foreach(folder tools validation inputs python)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder}
       ${PROJECT_BINARY_DIR}/share/arcwake/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_BINARY_DIR}/venv ${PROJECT_BINARY_DIR}/share/arcwake/venv SYMBOLIC)

# compare_programs.py compares two build trees.
install(DIRECTORY tools/ DESTINATION ${AW_DATA}/tools
        FILES_MATCHING PATTERN "*.py" PATTERN requirements.txt PATTERN requirements-convert.txt
        PATTERN compare_programs.py EXCLUDE PATTERN site EXCLUDE
        PATTERN completion EXCLUDE PATTERN __pycache__ EXCLUDE)
# The package: these scripts are made of it, and PYTHONPATH may name the folder.
install(DIRECTORY python/arcwake DESTINATION ${AW_DATA}/python
        FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(FILES validation/plot.py DESTINATION ${AW_DATA}/validation)
install(DIRECTORY inputs/ DESTINATION ${AW_DATA}/inputs
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.wake.txt")

# What a wheel holds beside the Python files (pyproject.toml): `cmake --install build --component
# wheel --prefix site-packages/arcwake`. A wheel has no links.
install(FILES $<TARGET_FILE:arcwake_library> DESTINATION . RENAME libarcwake.so
        COMPONENT wheel EXCLUDE_FROM_ALL)
install(FILES $<TARGET_FILE:arcwake_session> DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL)
install(PROGRAMS $<TARGET_FILE:arcwake> DESTINATION bin COMPONENT wheel EXCLUDE_FROM_ALL)
install(DIRECTORY tools/ DESTINATION share/arcwake/tools COMPONENT wheel EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py" PATTERN compare_programs.py EXCLUDE PATTERN site EXCLUDE
        PATTERN completion EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES validation/plot.py DESTINATION share/arcwake/validation COMPONENT wheel
        EXCLUDE_FROM_ALL)
install(DIRECTORY inputs/ DESTINATION share/arcwake/inputs COMPONENT wheel EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.wake.txt")

# Documents keep their folders, since they link to one another.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md CITATION.cff LICENSE COPYING.exception
        DESTINATION ${AW_DOC})
install(DIRECTORY docs validation DESTINATION ${AW_DOC}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
install(FILES docs/arcwake.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Each shell finds these by itself; zsh's goes on to that of bash.
install(FILES tools/completion/arcwake
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES tools/completion/_arcwake DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
