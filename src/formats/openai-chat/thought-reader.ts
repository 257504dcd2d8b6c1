import { isObject, type JsonObject } from '../../lib/json.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { textOf } from './assistant-parse.ts'
import type { ChoiceContext } from './choice-reader.ts'

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

  function observe(delta: JsonObject): boolean {
    const { reasoning_details: details, reasoning_content, reasoning, content } = delta
    if (Array.isArray(details) && details.length > 0) {
      for (const detail of details) if (isObject(detail)) observeDetail(detail)
      return true
    }
    if (typeof reasoning_content === 'string' && reasoning_content !== '') return think(reasoning_content)
    if (typeof reasoning === 'string' && reasoning !== '') return think(reasoning)
    return Array.isArray(content) && think(thoughtsIn(content))
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

/** Mistral: `{ type: 'thinking', thinking: [{ type: 'text', text }] }`. */
const thoughtsIn = (content: readonly unknown[]): string =>
  content.map((part) => (isObject(part) && part.type === 'thinking' ? textOf(part.thinking) : '')).join('')
