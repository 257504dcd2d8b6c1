/** Returns how many code units at the end of a string belong to an unfinished match, at most `most`. */
export function countAtEnd(text: string, isPart: (unit: string, at: number) => boolean, most = 256): number {
  let at = text.length
  while (at > 0 && text.length - at < most && isPart(text.charAt(at - 1), at - 1)) at--
  return text.length - at
}
