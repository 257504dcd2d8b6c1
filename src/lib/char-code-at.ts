/**
 * Like `text.charCodeAt(index)`, for loops over long strings, with an index inside the string. V8 represents strings in some ten ways (flat, sliced,
 * concatenated, with one or two bytes per character, and so on). Once a loop has seen more than four of them, V8 looks up `charCodeAt` and `length` again
 * for each character, which takes five times as long. This function avoids the first lookup. Read `length` before the loop to avoid the second.
 */
export const charCodeAt = (text: string, index: number): number => String.prototype.charCodeAt.call(text, index)
