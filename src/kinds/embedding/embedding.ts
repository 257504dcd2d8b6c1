import { tokenCount } from '../../formats/canonical/values.ts'
import type { Warnings } from '../../formats/canonical/warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import type { Division, Used } from '../forms.ts'
import { isVector, type Vector, widthOf } from './vectors.ts'

/** What the vectors of a text are for: models that know it make better ones. */
export type Task = 'query' | 'document' | 'similarity' | 'classification' | 'clustering' | 'question' | 'fact' | 'code'

/** The treatment of a text that is too long: it is refused, or cut at one of its ends. */
export type Truncation = 'none' | 'start' | 'end'

/** One input to embed. It has exactly one of its first three members. */
export interface Input {
  text?: string
  /** The tokens of a text, by OpenAI's tokenizer. */
  tokens?: readonly number[]
  /** Texts and images that get one vector together. */
  parts?: readonly InputPart[]
  /** Where the task is not that of all inputs. */
  task?: Task
  title?: string
}

/** An image is an address or a data URL. */
export type InputPart = { text: string } | { image: string }

/** A request for vectors, in whatever form it came. */
export interface Embed {
  inputs: readonly Input[]
  task?: Task
  /** A word for a task that no other vendor has. */
  otherTask?: string
  /** The width of the vectors. */
  dimensions?: number
  truncation?: Truncation
  /** How the client reads numbers; `raw`: as the vendor packs them, as the request says in its own words. */
  encoding: 'float' | 'base64' | 'raw'
  /** The types of vectors that Cohere's clients ask for; absent: floats. */
  types?: readonly string[]
  user?: string
}

/** The vectors, one for each input in their order. */
export interface Embedded extends Used {
  vectors: readonly Vector[]
  /** The vectors of other types than floats, by the names of the types. */
  byType?: Readonly<Record<string, readonly unknown[]>>
  id?: string
}

/** How requests with many inputs are divided, and the vectors of their parts put together. */
export const embedDivision: Division<Embed, Embedded> = {
  sizeOf: ({ inputs }) => inputs.length,
  slice: (asked, start, end) => ({ ...asked, inputs: asked.inputs.slice(start, end) }),
  join(given) {
    const [first] = given
    const types = new Set(given.flatMap(({ byType = {} }) => Object.keys(byType)))
    return {
      ...first,
      vectors: given.flatMap(({ vectors }) => vectors),
      ...(types.size > 0 && {
        byType: Object.fromEntries(
          Array.from(types, (type) => [type, given.flatMap(({ byType = {} }) => byType[type] ?? [])]),
        ),
      }),
    }
  },
  comparing() {
    let width: number | undefined
    return ({ vectors: [first] }) => {
      const own = first === undefined ? undefined : widthOf(first)
      width ??= own
      return own === undefined || own === width ? undefined : NO_WIDTH
    }
  },
}

/** The words of every vendor for a task. */
const TASKS: Readonly<Record<Task, RegExp>> = {
  query: /^(?:(?:search|retrieval)[_.])?query$/i,
  document: /^(?:(?:search|retrieval)[_.])?(?:document|passage)$/i,
  similarity: /^(?:semantic[_-]similarity|text-matching|similarity)$/i,
  classification: /^classification$/i,
  clustering: /^(?:clustering|separation)$/i,
  question: /^question[_-]answering$/i,
  fact: /^fact[_-](?:verification|checking)$/i,
  code: /^code[_.-](?:retrieval[_.-])?query$/i,
}

/** The task that a vendor's word stands for; `undefined` if none does. */
export const taskMeant = (word: unknown): Task | undefined =>
  typeof word === 'string' ? (Object.keys(TASKS) as Task[]).find((task) => TASKS[task].test(word)) : undefined // the record has no other keys

/** The tasks for which a query is looked up among documents. */
const ASKING: ReadonlySet<Task> = new Set(['question', 'fact', 'code'])

/**
 * A vendor's word for the task of all inputs, by those that it has; the nearest one, which is noted, where it has none; `undefined` without a
 * task, and where none is near.
 */
export function taskWord(
  asked: Embed,
  words: Readonly<Partial<Record<Task, string>>>,
  warnings: Warnings,
): string | undefined {
  const task = commonTask(asked, warnings)
  if (asked.otherTask !== undefined) warnings.noteDropped('task')
  if (task === undefined || words[task] !== undefined) return task && words[task]
  const near = ASKING.has(task) ? words.query : undefined
  if (near === undefined) warnings.noteDropped('task')
  else warnings.noteChanged('task', 'replaced')
  return near
}

/** The task of all inputs. Refuses inputs with several. */
function commonTask({ task, inputs }: Embed, warnings: Warnings): Task | undefined {
  const tasks = new Set(inputs.map((input) => input.task ?? task))
  if (tasks.size > 1) warnings.refuse('task', 'this target takes one for all inputs of a request')
  return [...tasks][0]
}

/** Notes what stands beside a text and has no place at the target. */
export function noteLostTitles({ inputs }: Embed, warnings: Warnings): void {
  if (inputs.some(({ title }) => title !== undefined)) warnings.noteDropped('title')
}

/** The texts of all inputs, for vendors that take nothing else. Refuses tokens and images. */
export function textsOf({ inputs }: Embed, warnings: Warnings): string[] {
  return inputs.map(({ text, tokens, parts = [] }) => {
    if (tokens) warnings.refuse('input', 'only models of OpenAI take tokens; send the text')
    if (text !== undefined) return text
    return parts
      .map((part) => ('text' in part ? part.text : warnings.refuse('input', 'this target takes texts and no images')))
      .join('\n')
  })
}

/**
 * Refuses a truncation that the target cannot do. `own`: what it does by itself; `others`: what it can be asked for.
 */
export function requireTruncation(
  { truncation }: Embed,
  { own, others = [] }: { own: Truncation; others?: readonly Truncation[] },
  warnings: Warnings,
): void {
  if (truncation === undefined || truncation === own || others.includes(truncation)) return
  warnings.refuse('truncation', DOES[own])
}

const DOES: Readonly<Record<Truncation, string>> = {
  none: 'this target refuses texts that are too long, and cannot cut them so',
  start: 'this target cuts the beginning of texts that are too long, and cannot do otherwise',
  end: 'this target cuts the end of texts that are too long, and cannot do otherwise',
}

/** Refuses types of vectors that only Cohere has. */
export function requireFloats({ types = [], encoding }: Embed, warnings: Warnings): void {
  const other = types.find((type) => type !== 'float' && type !== 'base64')
  if (other !== undefined) warnings.refuse('types', `this target has floats, and no "${other}"`)
  if (encoding === 'raw') warnings.refuse('encoding', 'this target has floats, and no packed numbers')
}

/** The usage of an answer that reports so many tokens; none where it reports no number. */
export const usageOf = (tokens: unknown): { usage?: TokenUsage } =>
  typeof tokens === 'number' ? { usage: { inputTokens: tokenCount(tokens), outputTokens: 0 } } : {}

/** The vectors in a list of as many as there are inputs, all of one width; otherwise what the answer lacks. `of`: that of an item. */
export function vectorsIn(
  list: unknown,
  { inputs, encoding }: Embed,
  of: (item: unknown) => unknown,
): Vector[] | string {
  if (!Array.isArray(list) || list.length !== inputs.length) return NO_VECTORS
  const vectors: Vector[] = []
  for (const item of list) {
    const vector = of(item)
    if (!isVector(vector, encoding)) return NO_VECTORS
    vectors.push(vector)
  }
  return haveOneWidth(vectors) ? vectors : NO_WIDTH
}

/** Have all vectors the same width? */
const haveOneWidth = (vectors: readonly Vector[]): boolean => new Set(vectors.map(widthOf)).size <= 1

const NO_VECTORS = 'an embedding for each input'
const NO_WIDTH = 'embeddings of one width'
