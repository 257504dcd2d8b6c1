import type { JsonObject } from '../../lib/json.ts'
import type { ReasoningPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ItemContext, ItemReader } from './item-reader.ts'
import { JOINT, parseThought, thoughtState } from './reasoning.ts'

/** Reads a thought: summaries, or the thoughts themselves where they come first. What it is encrypted to comes with the whole item. */
export function createThoughtReader({ start, origin }: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  let open: { key: number; isSummary: boolean; place: unknown } | undefined
  let isClosed = false
  const told = new Set<unknown>() // places of summaries or of thoughts

  function add(isSummary: boolean, place: unknown, text: unknown) {
    if (typeof text !== 'string' || text === '' || (open && open.isSummary !== isSummary)) return
    if (!open) {
      const part: ReasoningPart = { type: 'reasoning', text: '' }
      if (isSummary) part.isSummary = true
      open = { key: start(part), isSummary, place }
    }
    const { key } = open
    emit({ type: 'part-delta', key, text: open.place === place ? text : JOINT + text })
    open.place = place
    told.add(place)
  }

  /** Names: `reasoning_summary_text`, `reasoning_text`; Open Responses has `reasoning_summary` and `reasoning`. */
  function observe(type: string, event: JsonObject) {
    if (isClosed) return
    const isSummary = type.startsWith('response.reasoning_summary')
    const place = (isSummary ? event.summary_index : event.content_index) ?? 0
    if (type.endsWith('.delta')) add(isSummary, place, event.delta)
    else if (type.endsWith('.done') && !told.has(place)) add(isSummary, place, event.text)
  }

  function complete(item: JsonObject) {
    if (isClosed) return
    const whole = parseThought(item, origin)
    if (!open && whole) {
      const { state: _, ...part } = whole
      open = { key: start({ ...part, text: '' }), isSummary: part.isSummary === true, place: 0 }
      if (part.text !== '') emit({ type: 'part-delta', key: open.key, text: part.text })
    }
    const state = thoughtState(item, origin)
    if (open && state) emit({ type: 'part-state', key: open.key, state })
    end()
  }

  function end() {
    if (isClosed) return
    isClosed = true
    if (open) emit({ type: 'part-end', key: open.key })
  }

  return { begin() {}, observe, complete, end }
}
