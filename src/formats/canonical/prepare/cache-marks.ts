import type { Traits } from '../../../traits.ts'
import type { Tool } from '../tools.ts'
import type { Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

interface Marked {
  tools: Tool[]
  turns: Turn[]
}

/** The marks of caching that the target understands; of too many the last ones, which hold the longest prefixes. */
export function fitCacheMarks(marked: Marked, { traits, warnings }: { traits: Traits; warnings: Warnings }): Marked {
  const total = countMarks(marked)
  if (total === 0) return marked
  if (traits.cacheMarks === 'prompt_cache_breakpoint' && marked.tools.some(isMarked)) {
    const tools = marked.tools.map((tool) => withoutMark(tool, warnings)) // it stands on parts of the conversation only
    return fitCacheMarks({ ...marked, tools }, { traits, warnings })
  }
  const allowed = traits.cacheMarks === 'none' ? 0 : traits.maxCacheMarks
  let surplus = total - allowed
  if (surplus <= 0) return marked

  function strip<T extends object>(item: T): T {
    if (!isMarked(item) || surplus <= 0) return item
    surplus--
    return withoutMark(item, warnings)
  }

  function stripTurn(turn: Turn): Turn {
    if (turn.role === 'system') return { ...turn, content: turn.content.map(strip) }
    if (turn.role === 'user') return { ...turn, content: turn.content.map(strip) }
    if (turn.role === 'assistant') return { ...turn, content: turn.content.map(strip) }
    return { ...turn, results: turn.results.map((result) => strip({ ...result, content: result.content.map(strip) })) }
  }

  return { tools: marked.tools.map(strip), turns: marked.turns.map(stripTurn) }
}

const isMarked = (item: object): boolean => 'cache' in item && item.cache !== undefined

/** Nothing else of an item changes: the mark is optional wherever it may stand. */
function withoutMark<T extends object>(item: T, warnings: Warnings): T {
  const { cache, ...rest }: { cache?: object } = item
  if (cache) warnings.dropped(warnings.pathOf(cache, 'cache'))
  return rest as T
}

function countMarks({ tools, turns }: Marked): number {
  const items: object[] = [...tools]
  for (const turn of turns) {
    if (turn.role !== 'tool') items.push(...turn.content)
    else for (const result of turn.results) items.push(result, ...result.content)
  }
  return items.filter(isMarked).length
}
