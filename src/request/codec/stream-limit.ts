import { type GatewayError, gatewayError } from '../../errors.ts'
import type { PartEvent, StreamEvent } from '../../protocols/formats/canonical/canonical-stream.ts'

/** Counts a stream's content. Throws `UPSTREAM_INVALID` if it exceeds the limit. */
export interface StreamLimit<Content> {
  count(text: Content): void
}

/**
 * Limits a translated stream, because the writers for some formats keep all text until the end. Content other than text counts as the length of its
 * JSON.
 */
export function createEventLimit(
  maxBytes: number,
): StreamLimit<StreamEvent> & { countBytes(size: number): void; readonly size: number } {
  let size = 0

  function countBytes(count: number) {
    size += count
    if (size > maxBytes) throw createLimitError(maxBytes)
  }

  return {
    countBytes,
    count(event) {
      if ('key' in event) countBytes(measureEvent(event))
    },
    get size() {
      return size
    },
  }
}

function measureEvent(event: PartEvent): number {
  if (event.type === 'part-end') return 0
  if (event.type !== 'part-delta') return JSON.stringify(event).length
  return event.logprobs ? event.text.length + JSON.stringify(event.logprobs).length : event.text.length
}

/**
 * Limits a passed-through stream, in chunks of complete events. Searches chunks for text only once their total size exceeds the limit. It then
 * assumes that all earlier chunks had the same share of text as the first chunk it searched.
 */
export function createByteLimit(maxBytes: number): StreamLimit<Uint8Array> {
  let bytes = 0
  let textSize: number | undefined
  return {
    count(events) {
      const previousBytes = bytes
      bytes += events.length
      if (bytes <= maxBytes) return
      const chunkTextSize = measureText(events)
      textSize = (textSize ?? (previousBytes * chunkTextSize) / events.length) + chunkTextSize
      if (textSize > maxBytes) throw createLimitError(maxBytes)
    },
  }
}

/** Counts the bytes of text, based on the formats' text field names. */
function measureText(events: Uint8Array): number {
  let size = 0
  for (const [, text = ''] of latin1Decoder.decode(events).matchAll(TEXT_PATTERN)) size += text.length
  return size
}

/** Decodes each byte as one character. */
const latin1Decoder = new TextDecoder('latin1')

const TEXT_PATTERN =
  /"(?:arguments|b64_json|content|data|delta|input|partial_image_b64|partial_json|reasoning|reasoning_content|refusal|result|signature|summary|text|thinking|thoughtSignature|transcript|url)" ?: ?"((?:[^"\\]|\\.)*)"/g

const createLimitError = (maxBytes: number): GatewayError =>
  gatewayError('UPSTREAM_INVALID', {
    message: `The provider's stream contains more than ${maxBytes} bytes of text (limits.maxStreamBytes).`,
  })
