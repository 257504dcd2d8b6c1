import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { Answer } from '../../canonical/answer.ts'
import { keepLast, keptTokens } from '../../canonical/compaction.ts'
import type { CompactionPart } from '../../canonical/parts.ts'
import type { WriteContext } from '../../translator.ts'
import { wireUsage } from '../fields.ts'
import { wireCompaction } from './answer.ts'
import { type ItemPosition, type ItemWriter, itemFields, unsupported } from './stream-items.ts'

/** Writes the answer to a request for a compaction: the last messages of the request that are not the model's, and the compaction. */
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
      ...kept.map((message) => completeMessage(message, context)),
      ...compactions.map(({ text }) => wireCompaction(`cmp_${context.newId()}`, text)),
    ],
    usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
  }
}

const isKept = ({ type = 'message', role }: JsonObject) =>
  type === 'message' && (role === 'user' || role === 'system' || role === 'developer')

function completeMessage({ id, role, content }: JsonObject, { newId }: WriteContext): JsonObject {
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
  return { type: 'message', id: id ?? `msg_${newId()}`, status: 'completed', role, content: parts }
}

/** Writes a compaction in a stream. Its text is not sent, only an event for each piece of it. */
export function createCompactionWriter(part: CompactionPart, { context, events, index }: ItemPosition): ItemWriter {
  const id = `cmp_${context.newId()}`
  const fields = itemFields(id, index)
  const pieces = [part.text]
  events.write('response.output_item.added', {
    output_index: index,
    item: { type: 'compaction', id, encrypted_content: '' },
  })
  return {
    ...unsupported,
    add(more) {
      pieces.push(more)
      events.writeJson('response.compaction.compacting', fields)
    },
    end() {},
    whole: (status) => (status === 'incomplete' ? undefined : wireCompaction(id, pieces.join(''))),
  }
}
