import type { Turn } from '../turns.ts'

/**
 * Calls under ids that no call before them has: some models count from 0 in each answer, and Anthropic refuses a conversation in which an id
 * returns. The results of calls stand right behind them, in their order. What came before never changes with what follows.
 */
export function withUniqueIds(turns: readonly Turn[]): Turn[] {
  const seen = new Set<string>()
  let ids: string[] = [] // of the calls of the last assistant turn

  function unique(id: string): string {
    let found = id
    for (let count = 2; seen.has(found); count++) found = `${id}_${count}`
    seen.add(found)
    ids.push(found)
    return found
  }

  return turns.map((turn): Turn => {
    if (turn.role === 'tool') {
      const results = turn.results.map((result, index) => ({ ...result, callId: ids[index] ?? result.callId }))
      return { ...turn, results }
    }
    if (turn.role !== 'assistant') return turn
    ids = []
    const content = turn.content.map((part) => (part.type === 'tool-call' ? { ...part, id: unique(part.id) } : part))
    return { ...turn, content }
  })
}
