/** Returns how many code units at the end of a string belong to an unfinished match, up to `max`. */
export function countTrailing(
  text: string,
  belongsToMatch: (unit: string, index: number) => boolean,
  max = 256,
): number {
  let position = text.length
  while (position > 0 && text.length - position < max && belongsToMatch(text.charAt(position - 1), position - 1))
    position--
  return text.length - position
}
