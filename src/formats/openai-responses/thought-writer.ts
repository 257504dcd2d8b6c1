import { createTextBuffer } from '../../lib/text-buffer.ts'
import type { ReasoningPart } from '../canonical/parts.ts'
import type { OpaqueState } from '../canonical/state.ts'
import { type ItemPlace, type ItemWriter, noRoom, whereabouts } from './item-writer.ts'
import { wireThought } from './reasoning.ts'

/** Writes a thought as a summary, which clients show. One of neither text nor state is never told. */
export function createThoughtWriter(part: ReasoningPart, { context, events, index }: ItemPlace): ItemWriter {
  const id = `rs_${context.newId()}`
  const where = `${whereabouts(id, index)},"summary_index":0`
  const said = createTextBuffer()
  let state: OpaqueState | undefined = part.state
  let isTold = false

  function begin() {
    if (!isTold)
      events.tell('response.output_item.added', { output_index: index, item: wireThought(id, '', undefined) })
    isTold = true
  }

  const summary = (text: string) => `${where},"part":${JSON.stringify({ type: 'summary_text', text })}`

  return {
    ...noRoom,
    add(more) {
      begin()
      if (!said.isBegun) events.tellJson('response.reasoning_summary_part.added', summary(''))
      said.add(more)
      events.tellJson('response.reasoning_summary_text.delta', `${where},"delta":${JSON.stringify(more)}`)
    },
    sign(given) {
      state = given
    },
    end() {
      if (state) begin()
      if (!said.isBegun) return
      const { text = '' } = said
      events.tellJson('response.reasoning_summary_text.done', `${where},"text":${JSON.stringify(text)}`)
      events.tellJson('response.reasoning_summary_part.done', summary(text))
    },
    whole: () => (isTold ? wireThought(id, said.text ?? '', state) : undefined),
  }
}
