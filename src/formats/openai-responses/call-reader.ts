import { isObject, type JsonObject } from '../../lib/json.ts'
import { isNoArguments, objectText } from '../canonical/arguments.ts'
import type { ToolCallPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ItemContext, ItemReader } from './item-reader.ts'

/** Reads a tool call: it begins once it has a name, and its arguments come by deltas, at the end, or only with the whole item. */
export function createCallReader(
  { parser, start, losses }: ItemContext,
  emit: (event: ReaderEvent) => void,
): ItemReader {
  let key: number | undefined
  let held: string[] = [] // arguments that came before the name
  let hasInput = false
  let isFreeForm = false
  let isPlaceholder = false // `{}` or `null` so far, perhaps only in front of the arguments
  let isClosed = false

  function begin(item: JsonObject) {
    if (key !== undefined || typeof item.name !== 'string' || item.name === '') return
    const part: ToolCallPart = { type: 'tool-call', id: parser.callId(item), name: item.name, arguments: '' }
    if (isFreeForm) part.isFreeForm = true
    key = start(part)
    for (const piece of held) tell(piece)
    held = []
  }

  function add(more: unknown) {
    const text = isObject(more) ? objectText(more) : more
    if (typeof text !== 'string' || text === '') return
    if (!hasInput && isNoArguments(text) && !isFreeForm) isPlaceholder = true
    else {
      if (!text.trimStart().startsWith('{')) settlePlaceholder()
      isPlaceholder = false
      tell(text)
    }
    hasInput = true
  }

  function settlePlaceholder() {
    if (isPlaceholder) tell('{}')
    isPlaceholder = false
  }

  function tell(text: string) {
    if (key === undefined) held.push(text)
    else emit({ type: 'part-delta', key, text })
  }

  function settle(whole: unknown) {
    if (!hasInput) add(whole)
  }

  function end() {
    if (isClosed) return
    isClosed = true
    settlePlaceholder()
    if (key === undefined)
      losses.dropped('function_call') // nobody could run it
    else emit({ type: 'part-end', key })
  }

  return {
    /** An id that is still to come is waited for. */
    begin(item) {
      isFreeForm = item.type === 'custom_tool_call'
      if (item.call_id) begin(item)
    },
    observe(type, event) {
      if (isClosed) return
      if (type.endsWith('.delta')) add(event.delta)
      else settle(event.arguments ?? event.input)
    },
    complete(item) {
      if (isClosed) return
      isFreeForm = item.type === 'custom_tool_call'
      begin(item)
      settle(item.arguments ?? item.input)
      end()
    },
    end,
  }
}
