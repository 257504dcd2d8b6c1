import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { AssistantPart } from '../../canonical/canonical-parts.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { getReasoningText, hasReadableDetails } from './chat-provider-response.ts'
import type { StreamChoiceContext } from './chat-provider-stream-calls.ts'

/** Reads reasoning wherever a vendor puts it: in a text field, in content parts (Mistral), or in details (OpenRouter). */
interface ReasoningReader {
  /** Reads a delta and returns whether it contains reasoning. */
  observe(delta: JsonObject): boolean
  close(): void
}

interface OpenReasoning {
  key: number
  /** The detail, merged from all deltas so far, or `undefined` for plain text. */
  detail: { index: unknown; rest: JsonObject } | undefined
}

/** Creates a reader that emits one candidate's reasoning. `start` begins a part and returns its key. */
export function createReasoningReader(
  { origin }: StreamChoiceContext,
  start: (part: AssistantPart) => number,
  emit: (event: ReaderEvent) => void,
): ReasoningReader {
  let open: OpenReasoning | undefined
  let hasReadable = false // whether details have contained text, which other fields only repeat

  function observe(delta: JsonObject): boolean {
    const { reasoning_details } = delta
    const text = getReasoningText(delta)
    const details = Array.isArray(reasoning_details) ? reasoning_details.filter(isObject) : []
    if (details.length === 0) return addPlainText(text)
    hasReadable ||= hasReadableDetails(details)
    if (!hasReadable) addPlainText(text)
    for (const detail of details) observeDetail(detail)
    return true
  }

  function addPlainText(text: string): boolean {
    if (text === '') return false
    if (!open || open.detail) {
      close()
      const key = start({ type: 'reasoning', text: '', state: { origin, kind: 'text', data: '' } })
      open = { key, detail: undefined }
    }
    emit({ type: 'part-delta', key: open.key, text })
    return true
  }

  function observeDetail({ text, summary, ...rest }: JsonObject) {
    const isSummary = typeof summary === 'string'
    const piece = isSummary ? summary : text
    if (!open?.detail || open.detail.index !== rest.index || open.detail.rest.type !== rest.type) {
      close()
      const key = start(isSummary ? { type: 'reasoning', text: '', isSummary } : { type: 'reasoning', text: '' })
      open = { key, detail: { index: rest.index, rest: {} } }
    }
    const previousRest = open.detail?.rest
    if (previousRest)
      for (const name in rest) if (rest[name] !== '' && rest[name] !== null) previousRest[name] = rest[name]
    if (typeof piece === 'string' && piece !== '') emit({ type: 'part-delta', key: open.key, text: piece })
  }

  function close() {
    if (!open) return
    const { key, detail } = open
    open = undefined
    if (detail) emit({ type: 'part-state', key, state: { origin, kind: 'detail', data: JSON.stringify(detail.rest) } })
    emit({ type: 'part-end', key })
  }

  return { observe, close }
}
