// The limits of the query language. They keep hostile texts from costing more than friendly ones.

export const TEXT_CHARACTERS_MAX = 524_288;
export const TOKENS_MAX = 200_000;

/**
 * The height of a syntax tree, from the query down to its leaves through all subqueries. Whoever
 * walks a tree may recurse once per level without a thought for the stack.
 */
export const TREE_HEIGHT_MAX = 256;

/**
 * How deep the parser calls itself. The printed form of a tree costs two calls per level: one for
 * the parenthesis and one for the right operand; so every tree that is accepted can be read again.
 */
export const PARSER_DEPTH_MAX = 2 * TREE_HEIGHT_MAX + 2;

export const JOINS_MAX = 10;
export const UDF_CALLS_MAX = 10;
export const IN_ITEMS_MAX = 16_000;
export const CHAIN_OPERANDS_MAX = 2_000;
