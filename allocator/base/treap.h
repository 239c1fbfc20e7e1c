// An ordered tree over the slots of a table, woven through their records: no memory of its own, no
// failure, O(log n). One record may be in several trees, each with links of its own.
//
//   struct Node { std::uint64_t begin; TreapLinks by_begin; };
//   struct ByBegin {  // Order: records against records, and against the keys that are looked for
//     static TreapLinks& Links(Node& node) { return node.by_begin; }
//     static bool Less(const Node& a, const Node& b) { return a.begin < b.begin; }
//     static bool Less(const Node& a, std::uint64_t key) { return a.begin < key; }
//   };
//   Treap<Node, ByBegin> tree;
//
// Laws: 1. In order, each record is Less than the next: equal ones are not kept.
//       2. The priority of a record is never above its parent's. Priorities are drawn from the
//          number of the slot, so that equal histories give equal trees.
// Threads: none of its own; callers lock.
#pragma once

#include <cstdint>

#include "allocator/base/slot_table.h"

namespace cuheap {

struct TreapLinks {
  SlotId left = 0;
  SlotId right = 0;
};

template <class Record, class Order>
class Treap {
 public:
  using Table = SlotTable<Record>;

  // REQUIRES: `id` is not in the tree, nor one that is equal to it.
  void Insert(Table& table, SlotId id) {
    SlotId* place = &root_;
    while (*place != 0 && Priority(*place) >= Priority(id))
      place = Order::Less(table[*place], table[id]) ? &Right(table, *place) : &Left(table, *place);
    SlotId below = 0;
    SlotId above = 0;
    Split(table, *place, table[id], &below, &above);
    Order::Links(table[id]) = {below, above};
    *place = id;
  }

  // REQUIRES: `id` is in the tree, and its key is what it was at Insert.
  void Erase(Table& table, SlotId id) {
    SlotId* place = &root_;
    while (*place != id)
      place = Order::Less(table[*place], table[id]) ? &Right(table, *place) : &Left(table, *place);
    const TreapLinks links = Order::Links(table[id]);
    *place = Merge(table, links.left, links.right);
  }

  // The first record that is not Less than `key`; 0: none.
  template <class Key>
  SlotId FirstFrom(Table& table, const Key& key) const {
    SlotId best = 0;
    for (SlotId id = root_; id != 0;) {
      const bool less = Order::Less(table[id], key);
      if (!less) best = id;
      id = less ? Right(table, id) : Left(table, id);
    }
    return best;
  }

  // The last record that is Less than `key`; 0: none.
  template <class Key>
  SlotId LastBelow(Table& table, const Key& key) const {
    SlotId best = 0;
    for (SlotId id = root_; id != 0;) {
      const bool less = Order::Less(table[id], key);
      if (less) best = id;
      id = less ? Right(table, id) : Left(table, id);
    }
    return best;
  }

  // In order. `visit(SlotId)` must not change the tree.
  template <class Visit>
  void ForEach(Table& table, Visit&& visit) const {
    VisitBelow(table, root_, visit);
  }

 private:
  static SlotId& Left(Table& table, SlotId id) { return Order::Links(table[id]).left; }
  static SlotId& Right(Table& table, SlotId id) { return Order::Links(table[id]).right; }

  // Bijective, so that no two are equal.
  static std::uint32_t Priority(SlotId id) {
    std::uint32_t mixed = id * 0x9e3779b1u;
    mixed ^= mixed >> 15;
    mixed *= 0x85ebca77u;
    return mixed ^ mixed >> 13;
  }

  static void Split(Table& table, SlotId root, const Record& key, SlotId* below, SlotId* above) {
    if (root == 0) {
      *below = *above = 0;
    } else if (Order::Less(table[root], key)) {
      *below = root;
      Split(table, Right(table, root), key, &Right(table, root), above);
    } else {
      *above = root;
      Split(table, Left(table, root), key, below, &Left(table, root));
    }
  }

  static SlotId Merge(Table& table, SlotId below, SlotId above) {
    if (below == 0 || above == 0) return below | above;
    if (Priority(below) > Priority(above)) {
      Right(table, below) = Merge(table, Right(table, below), above);
      return below;
    }
    Left(table, above) = Merge(table, below, Left(table, above));
    return above;
  }

  template <class Visit>
  static void VisitBelow(Table& table, SlotId root, Visit&& visit) {
    if (root == 0) return;
    VisitBelow(table, Left(table, root), visit);
    visit(root);
    VisitBelow(table, Right(table, root), visit);
  }

  SlotId root_ = 0;
};

}  // namespace cuheap
