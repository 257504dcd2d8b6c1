import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Answer } from '../canonical/answer.ts'
import { keepLast, keptTokens } from '../canonical/compaction.ts'
import type { CompactionPart } from '../canonical/parts.ts'
import { sealSummary } from '../canonical/state.ts'
import type { WriteContext } from '../translator.ts'
import { type ItemPlace, type ItemWriter, noRoom, whereabouts } from './item-writer.ts'
import { wireUsage } from './usage.ts'
import type { WireCompaction, WireCompactionInput } from './wire.ts'

/** A summary for a client, who gives it back in place of the conversation that it stands for. */
export const wireCompaction = (id: string, summary: string): WireCompaction => ({
  type: 'compaction',
  id,
  encrypted_content: sealSummary(summary),
})

/** A compaction that a provider has encrypted, and gets back. */
export function compactionInput({ id, data }: { id?: string; data: string }): WireCompactionInput {
  const item = { type: 'compaction', encrypted_content: data } as const
  return id === undefined ? item : { ...item, id }
}

/**
 * The answer to a request for a compaction: the messages of the request that are no answers, as far as they are kept, and the compaction.
 */
export function writeCompaction({ choices, usage }: Answer, context: WriteContext, { input }: JsonObject): JsonObject {
  const items: unknown[] = typeof input === 'string' ? [{ role: 'user', content: input }] : []
  const messages = (Array.isArray(input) ? input : items).filter(isObject).filter(isKept)
  const kept = keepLast(messages, keptTokens('now'), ({ role }) => role === 'user')
  const content = choices[0]?.content ?? []
  const compactions = content.flatMap((part) => (part.type === 'compaction' ? [part] : []))
  return {
    id: `resp_${context.newId()}`,
    object: 'response.compaction',
    created_at: context.now,
    output: [
      ...kept.map((message) => wholeMessage(message, context)),
      ...compactions.map(({ text }) => wireCompaction(`cmp_${context.newId()}`, text)),
    ],
    usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
  }
}

const isKept = ({ type = 'message', role }: JsonObject) =>
  type === 'message' && (role === 'user' || role === 'system' || role === 'developer')

function wholeMessage({ id, role, content }: JsonObject, { newId }: WriteContext): JsonObject {
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
  return { type: 'message', id: id ?? `msg_${newId()}`, status: 'completed', role, content: parts }
}

/** Writes a compaction in a stream: its words are not shown, only that there are more of them. */
export function createCompactionWriter(part: CompactionPart, { context, events, index }: ItemPlace): ItemWriter {
  const id = `cmp_${context.newId()}`
  const where = whereabouts(id, index)
  const pieces = [part.text]
  events.tell('response.output_item.added', {
    output_index: index,
    item: { type: 'compaction', id, encrypted_content: '' },
  })
  return {
    ...noRoom,
    add(more) {
      pieces.push(more)
      events.tellJson('response.compaction.compacting', where)
    },
    end() {},
    whole: (status) => (status === 'incomplete' ? undefined : wireCompaction(id, pieces.join(''))),
  }
}
