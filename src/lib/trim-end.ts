/** The text without this character at its end, however often it is there. Takes linear time, unlike a search for `/x+$/`. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}
