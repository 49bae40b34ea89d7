#include "comm/algorithms/selection.h"

#include <algorithm>
#include <charconv>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

struct Unit {
  const char* letter;
  size_t bytes;
};
constexpr Unit kUnits[] = {{"G", size_t{1} << 30}, {"M", size_t{1} << 20}, {"K", size_t{1} << 10}, {"", 1}};

const Unit& unit_of(size_t nbytes) {
  return *std::ranges::find_if(
      kUnits, [&](const Unit& unit) { return nbytes >= unit.bytes && nbytes % unit.bytes == 0; });
}

/// "8K"; exact.
std::string size_text(size_t nbytes) {
  if (nbytes == 0) return "0";
  const Unit& unit = unit_of(nbytes);
  return std::to_string(nbytes / unit.bytes) + unit.letter;
}

/// "8 KiB"
std::string spoken_size(size_t nbytes) {
  const Unit& unit = unit_of(nbytes);
  return to_text(nbytes / unit.bytes, ' ', unit.letter, unit.bytes == 1 ? "bytes" : "iB");
}

template <class... Parts>
void require(bool condition, std::string_view part, const Parts&... problem) {
  check(condition, "comm.algorithm", '"', part, '"', problem...);
}

size_t parse_size(std::string_view text, std::string_view part) {
  size_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view letter(rest, static_cast<size_t>(text.data() + text.size() - rest));
  const auto* const unit =
      std::ranges::find_if(kUnits, [&](const Unit& known) { return letter == known.letter; });
  require(error == std::errc() && unit != std::end(kUnits) && value <= SizeRange::kUnlimited / unit->bytes,
          part, ": expected a number of bytes with K, M, G or nothing behind it, got \"", text, '"');
  return value * unit->bytes;
}

/// "name:BEGIN-END" or "name:BEGIN-".
SizeRange parse_range(std::string_view part) {
  const size_t colon = part.find(':');
  const size_t dash = part.find('-', colon == std::string_view::npos ? 0 : colon);
  require(colon != std::string_view::npos && dash != std::string_view::npos, part,
          ": expected name:BEGIN-END, or name:BEGIN- for the last");
  const std::string_view begin = part.substr(colon + 1, dash - colon - 1);
  const std::string_view end = part.substr(dash + 1);
  SizeRange range{&find_algorithm(part.substr(0, colon)), parse_size(begin, part)};
  if (!end.empty() && end != "...") range.end = parse_size(end, part);
  require(range.begin < range.end, part, " ends before it begins");
  return range;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::vector<SizeRange> parse_ranges(std::string_view text) {
  if (text.find_first_of(":;") == std::string_view::npos) return {{&find_algorithm(text)}};
  std::vector<SizeRange> ranges;
  size_t covered = 0;
  std::string_view previous;
  for (const std::string_view part : split(text, ';')) {
    const SizeRange range = parse_range(part);
    if (ranges.empty()) {
      require(range.begin == 0, part, " begins at ", size_text(range.begin), ": expected the first at 0");
    } else {
      require(covered != SizeRange::kUnlimited, previous, " has no end, but \"", part, "\" follows");
      require(range.begin == covered, part, " begins at ", size_text(range.begin), ", but \"", previous,
              "\" ends at ", size_text(covered));
    }
    covered = range.end;
    previous = part;
    ranges.push_back(range);
  }
  require(covered == SizeRange::kUnlimited, previous, " ends at ", size_text(covered),
          ": expected the last to have no end, so that every size is covered");
  return ranges;
}

/// Where latency is all that counts, one round beats two or more. Two ranks pay no additional byte for it.
size_t smallest_worth_halving(int ranks) {
  return ranks == 2 ? 2048 : 256;
}

/// Up to here, finding each other's memory takes longer than sending it.
constexpr size_t kSmallestWorthSharing = 8192;

}  // namespace

Selection::Selection(const std::vector<SizeRange>& ranges) {
  for (const SizeRange& range : ranges) {
    if (!ranges_.empty() && ranges_.back().algorithm == range.algorithm) {
      ranges_.back().end = range.end;
    } else {
      ranges_.push_back(range);
    }
  }
}

const Algorithm& Selection::choose(size_t nbytes) const {
  return *std::ranges::find_if(ranges_, [&](const SizeRange& range) {
            return nbytes <= range.end;
          })->algorithm;
}

std::string Selection::text() const {
  if (ranges_.size() == 1) return ranges_.front().algorithm->name;
  std::string text;
  for (const SizeRange& range : ranges_) {
    text += to_text(text.empty() ? "" : ";", range.algorithm->name, ':', size_text(range.begin), '-',
                    range.end == SizeRange::kUnlimited ? "" : size_text(range.end));
  }
  return text;
}

std::string Selection::description() const {
  if (ranges_.size() == 1) return ranges_.front().algorithm->name;
  std::string text;
  for (const SizeRange& range : ranges_) {
    text += to_text(text.empty() ? "" : ", ", range.algorithm->name, ' ',
                    range.end == SizeRange::kUnlimited ? "above" : "up to " + spoken_size(range.end));
  }
  return text;
}

Selection parse_selection(std::string_view text, bool tree_order_only) {
  Selection selection(parse_ranges(text));
  for (const SizeRange& range : selection.ranges()) {
    require(range.algorithm->tree_order || !tree_order_only, range.algorithm->name,
            " sums in an order that depends on the number of ranks: numerics REPRODUCIBLE expects one of ",
            algorithm_names(true));
  }
  return selection;
}

Selection automatic_selection(int ranks, int ranks_per_node) {
  const Algorithm& direct = find_algorithm("direct");
  const Algorithm& halving = find_algorithm("halving_doubling");
  const size_t halved = smallest_worth_halving(ranks);
  if (ranks_per_node == 1) return Selection({{&direct, 0, halved}, {&halving, halved}});
  return Selection({{&direct, 0, halved},
                    {&halving, halved, kSmallestWorthSharing},
                    {&find_algorithm("hierarchical"), kSmallestWorthSharing}});
}

}  // namespace lockstep::comm
