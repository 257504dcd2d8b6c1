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
  detail: { index: unknown; fields: JsonObject } | undefined
}

/** Creates a reader that emits one candidate's reasoning. `start` begins a part and returns its key. */
export function createReasoningReader(
  { origin }: StreamChoiceContext,
  start: (part: AssistantPart) => number,
  emit: (event: ReaderEvent) => void,
): ReasoningReader {
  let openPart: OpenReasoning | undefined
  let hasReadableText = false // whether details have contained text, which other fields only repeat

  function observe(delta: JsonObject): boolean {
    const { reasoning_details } = delta
    const text = getReasoningText(delta)
    const details = Array.isArray(reasoning_details) ? reasoning_details.filter(isObject) : []
    if (details.length === 0) return addPlainText(text)
    hasReadableText ||= hasReadableDetails(details)
    if (!hasReadableText) addPlainText(text)
    for (const detail of details) observeDetail(detail)
    return true
  }

  function addPlainText(text: string): boolean {
    if (text === '') return false
    if (!openPart || openPart.detail) {
      close()
      const key = start({ type: 'reasoning', text: '', state: { origin, kind: 'text', data: '' } })
      openPart = { key, detail: undefined }
    }
    emit({ type: 'part-delta', key: openPart.key, text })
    return true
  }

  function observeDetail({ text, summary, ...fields }: JsonObject) {
    const isSummary = typeof summary === 'string'
    const delta = isSummary ? summary : text
    if (!openPart?.detail || openPart.detail.index !== fields.index || openPart.detail.fields.type !== fields.type) {
      close()
      const key = start(isSummary ? { type: 'reasoning', text: '', isSummary } : { type: 'reasoning', text: '' })
      openPart = { key, detail: { index: fields.index, fields: {} } }
    }
    const previousFields = openPart.detail?.fields
    if (previousFields)
      for (const name in fields) if (fields[name] !== '' && fields[name] !== null) previousFields[name] = fields[name]
    if (typeof delta === 'string' && delta !== '') emit({ type: 'part-delta', key: openPart.key, text: delta })
  }

  function close() {
    if (!openPart) return
    const { key, detail } = openPart
    openPart = undefined
    if (detail)
      emit({ type: 'part-state', key, state: { origin, kind: 'detail', data: JSON.stringify(detail.fields) } })
    emit({ type: 'part-end', key })
  }

  return { observe, close }
}
