import { isObject, type JsonObject } from '../../lib/json.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ChoiceContext } from './choice-reader.ts'
import { isReadable, thoughtText } from './thought-text.ts'

/** Reads thoughts wherever a vendor puts them: a field of text, Mistral's parts of the content, or OpenRouter's details. */
export interface ThoughtReader {
  /** Answers whether there was one. */
  observe(delta: JsonObject): boolean
  close(): void
}

/** A thought that is being told. What a detail says besides its text comes over several deltas and returns as one. */
interface OpenThought {
  key: number
  /** Of the detail that it is; undefined: plain text. */
  detail: { index: unknown; rest: JsonObject } | undefined
}

export function createThoughtReader(
  { origin }: ChoiceContext,
  start: (part: AssistantPart) => number,
  emit: (event: ReaderEvent) => void,
): ThoughtReader {
  let open: OpenThought | undefined
  let hasReadable = false // details whose text is told, which others only repeat

  function observe(delta: JsonObject): boolean {
    const { reasoning_details } = delta
    const text = thoughtText(delta)
    const details = Array.isArray(reasoning_details) ? reasoning_details.filter(isObject) : []
    if (details.length === 0) return think(text)
    hasReadable ||= isReadable(details)
    if (!hasReadable) think(text)
    for (const detail of details) observeDetail(detail)
    return true
  }

  function think(text: string): boolean {
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
    const said = isSummary ? summary : text
    if (!open?.detail || open.detail.index !== rest.index || open.detail.rest.type !== rest.type) {
      close()
      const key = start(isSummary ? { type: 'reasoning', text: '', isSummary } : { type: 'reasoning', text: '' })
      open = { key, detail: { index: rest.index, rest: {} } }
    }
    const known = open.detail?.rest
    if (known) for (const name in rest) if (rest[name] !== '' && rest[name] !== null) known[name] = rest[name]
    if (typeof said === 'string' && said !== '') emit({ type: 'part-delta', key: open.key, text: said })
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
