/** The bytes of each event of whole ones, with its blank line. */
export function splitEvents(whole: Uint8Array): Uint8Array[] {
  const events: Uint8Array[] = []
  let start = 0
  for (const { index, 0: blank } of byteByByte.decode(whole).matchAll(EVENT_END)) {
    const end = index + blank.length
    events.push(whole.subarray(start, end))
    start = end
  }
  return events
}

/** One character a byte, so that positions in the text are positions in the bytes. */
const byteByByte = new TextDecoder('latin1')

const EVENT_END = /(?:\r\n|\n|\r(?!\n)){2}/g
