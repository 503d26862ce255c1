// SPDX-License-Identifier: BSD-3-Clause
// The page: live with its forms, or frozen with results alone.
#pragma once

#include <string>
#include <vector>

#include "workbench/result.hpp"

namespace tool {

// Letters that a page's own scripts and styles carry, and no others run: fresh for each page.
std::string random_letters(std::size_t bits);

// The page that the server hands out. The policy goes into its header, too.
std::string live_page(const std::string &nonce);
std::string content_policy(const std::string &nonce, bool live);
// One file that opens from disk without a server, and shows its results without scripts.
std::string report_page(const std::vector<ResultPointer> &results, const std::string &title);

}  // namespace tool
