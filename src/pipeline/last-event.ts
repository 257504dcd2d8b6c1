import type { StreamWatch } from '../formats/format.ts'
import { bareJsonIn } from '../lib/bare-json.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { createSseParser, MAX_EVENT } from '../lib/sse.ts'

/**
 * Completes the last event of a stream, which lacks only its blank line. So does an error that is bare JSON, of which `watch` is told, as it
 * is no event. Half an event is dropped.
 */
export function closeEvent(rest: Uint8Array, watch: StreamWatch): Uint8Array {
  if (isClosedByReturns(rest)) return rest
  if (rest.length > MAX_EVENT) return NOTHING
  const text = decodeUtf8Lenient(rest)
  const bare = bareJsonIn(text)
  return (bare === undefined ? isEvent(text) : isError(bare, watch)) ? concatBytes([rest, encodeUtf8('\n\n')]) : NOTHING
}

/** A name without data is no event. */
function isEvent(text: string): boolean {
  let isWhole = false
  const parser = createSseParser(({ data }) => {
    isWhole = data === '[DONE]' || tryParseJson(data) !== undefined
  })
  parser.push(text)
  parser.end()
  return isWhole
}

function isError(bare: string, watch: StreamWatch): boolean {
  const said = tryParseJson(bare)
  if (!isObject(said) || !said.error) return false
  watch.observe({ event: undefined, data: bare })
  return true
}

/** Does it end in two carriage returns? The event was held back, as the last one could have been half of a CRLF. */
const isClosedByReturns = (rest: Uint8Array) => rest.at(-1) === CR && rest.at(-2) === CR

const CR = 0x0d
const NOTHING = new Uint8Array(0)
