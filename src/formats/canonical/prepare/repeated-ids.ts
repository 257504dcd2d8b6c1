import type { Turn } from '../turns.ts'
import { createUniqueIds } from '../unique-ids.ts'

/**
 * Calls under ids that no call before them has: some models count from 0 in each answer, and Anthropic refuses a conversation in which an id
 * returns. The results of calls stand right behind them, in their order. What came before never changes with what follows.
 */
export function withoutRepeatedIds(turns: readonly Turn[]): Turn[] {
  const unique = createUniqueIds()
  let ids: string[] = [] // of the calls of the last assistant turn
  return turns.map((turn): Turn => {
    if (turn.role === 'tool') {
      const results = turn.results.map((result, index) => ({ ...result, callId: ids[index] ?? result.callId }))
      return { ...turn, results }
    }
    if (turn.role !== 'assistant') return turn
    const content = turn.content.map((part) => (part.type === 'tool-call' ? { ...part, id: unique(part.id) } : part))
    ids = content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
    return { ...turn, content }
  })
}
