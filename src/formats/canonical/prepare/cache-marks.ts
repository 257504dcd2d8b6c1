import type { TargetContext } from '../../translator.ts'
import type { Tool } from '../tools.ts'
import type { Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

interface Marked {
  tools: Tool[]
  turns: Turn[]
}

/** Keeps the cache marks that the target supports. Of too many, the last ones stay: they cover the longest prefixes. */
export function fitCacheMarks(marked: Marked, target: TargetContext): Marked {
  const { traits, warnings } = target
  const total = countMarks(marked)
  if (total === 0) return marked
  if (traits.cacheMarks === 'prompt_cache_breakpoint' && marked.tools.some(isMarked)) {
    const tools = marked.tools.map((tool) => withoutMark(tool, warnings)) // a breakpoint stands on parts of the conversation only
    return fitCacheMarks({ ...marked, tools }, target)
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

/** The cast is safe, since the mark is optional on every item. */
function withoutMark<T extends object>(item: T, warnings: Warnings): T {
  const { cache, ...rest }: { cache?: object } = item
  if (cache) warnings.noteDropped(warnings.pathOf(cache, 'cache'))
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
