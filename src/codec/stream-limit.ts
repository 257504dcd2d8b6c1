import { type GatewayError, gatewayError } from '../errors.ts'
import type { PartEvent, StreamEvent } from '../formats/canonical/stream.ts'

/** Counts what a stream says; throws `UPSTREAM_INVALID` once it is more than the limit. */
export interface StreamLimit<Said> {
  count(said: Said): void
}

/**
 * The limit of a translated stream, of which the writers of some formats keep all text to the end. Other things than text count by
 * their JSON.
 */
export function limitEvents(
  maxBytes: number,
): StreamLimit<StreamEvent> & { countBytes(size: number): void; readonly size: number } {
  let size = 0

  function countBytes(more: number) {
    size += more
    if (size > maxBytes) throw tooMuchText(maxBytes)
  }

  return {
    countBytes,
    count(event) {
      if ('key' in event) countBytes(sizeOf(event))
    },
    get size() {
      return size
    },
  }
}

function sizeOf(event: PartEvent): number {
  if (event.type === 'part-end') return 0
  if (event.type !== 'part-delta') return JSON.stringify(event).length
  return event.logprobs ? event.text.length + JSON.stringify(event.logprobs).length : event.text.length
}

/**
 * The limit of a stream that is passed through, in pieces of whole events. Nothing of them is read as long as all bytes are fewer; then the
 * share of text in the first piece that is read stands for what came before.
 */
export function limitBytes(maxBytes: number): StreamLimit<Uint8Array> {
  let bytes = 0
  let text: number | undefined
  return {
    count(events) {
      const before = bytes
      bytes += events.length
      if (bytes <= maxBytes) return
      const said = textIn(events)
      text = (text ?? (before * said) / events.length) + said
      if (text > maxBytes) throw tooMuchText(maxBytes)
    },
  }
}

/** The bytes of all that the formats say, by the names that they have for it. */
function textIn(events: Uint8Array): number {
  let size = 0
  for (const [, text = ''] of byteByByte.decode(events).matchAll(TEXT)) size += text.length
  return size
}

/** One character a byte. */
const byteByByte = new TextDecoder('latin1')

const TEXT =
  /"(?:arguments|b64_json|content|data|delta|input|partial_image_b64|partial_json|reasoning|reasoning_content|refusal|result|signature|summary|text|thinking|thoughtSignature|transcript|url)" ?: ?"((?:[^"\\]|\\.)*)"/g

const tooMuchText = (maxBytes: number): GatewayError =>
  gatewayError('UPSTREAM_INVALID', {
    message: `The provider did not stop: its stream has more than ${maxBytes} bytes of text (limits.maxStreamBytes).`,
  })
