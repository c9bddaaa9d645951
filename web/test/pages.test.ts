// Lists in pages, whose first page is read again and again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Page, joined } from "../src/model/pages.ts";

const page = (ids: string, next?: string): Page<{ readonly id: string }> => ({ rows: [...ids].map((id) => ({ id })), next });
const text = ({ rows, next }: Page<{ readonly id: string }>): string => rows.map(({ id }) => id).join("") + (next ?? ".");

test("older rows follow the first page, and new ones come before it", () => {
  assert.equal(text(joined(page("fed", "1"), undefined)), "fed1");
  assert.equal(text(joined(page("fed", "1"), page("fedcba", "2"))), "fedcba2");
  assert.equal(text(joined(page("hgf", "1"), page("fedcba", "2"))), "hgfedcba2");
  assert.equal(text(joined(page("", "1"), page("cba", "2"))), "cba2");
});

test("rows that were deleted leave the list", () => {
  assert.equal(text(joined(page("fdc", "1"), page("fedcba"))), "fdcba.");
  assert.equal(text(joined(page("ba"), page("fedcba", "2"))), "ba.");
  assert.equal(text(joined(page(""), page("fedcba", "2"))), ".");
});

test("of a list that has nothing in common with what was read, only the first page is known", () => {
  assert.equal(text(joined(page("zyx", "1"), page("fedcba", "2"))), "zyx1");
});
