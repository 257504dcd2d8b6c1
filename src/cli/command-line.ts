import { parseArgs } from 'node:util'
import { toCurrentFlag } from '../lib/renamed-options.ts'
import { findNearest } from '../lib/spelling.ts'
import { createProblem, type Problem } from './problem.ts'

/** A command-line option. Options are stored by name, without the dashes. */
export interface OptionShape {
  /** `string` if the option takes a value. */
  type: 'string' | 'boolean'
  short?: string
  /** The words that may follow an option that doesn't need a value, after a space or "=". */
  words?: readonly string[]
  /** An example value. */
  example?: string
  /** Whether the value can be `-` (for stdin) or a negative number. */
  acceptsDash?: boolean
  /** Whether the option can be repeated with different values. */
  isList?: boolean
}

/** A command line's options and words, in order. */
export interface Arguments {
  /** The values of each option, one per occurrence. An option without a value has an empty string. */
  values: Map<string, string[]>
  positionals: string[]
}

/**
 * Reads a command line. Throws a problem with exit code 2 for an unknown option, a missing value, or an unexpected one; `commands/run-command.ts`
 * changes the exit code to 1. Unlike in Node's strict mode, the messages suggest what to write instead.
 */
export function readArguments(args: readonly string[], shapes: Readonly<Record<string, OptionShape>>): Arguments {
  const options = Object.fromEntries(
    Object.entries(shapes).map(([name, { type, short }]) => [name, { type, ...(short !== undefined && { short }) }]),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const valuesByName = new Map<string, string[]>()
  const positionals: string[] = []
  let wordIndex: number | undefined
  for (const token of tokens) {
    if (token.kind === 'positional' && token.index !== wordIndex) positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, inlineValue, index } = token
    let { value } = token
    const option = Object.hasOwn(shapes, name) ? shapes[name] : undefined
    if (!option) throw createUsageProblem(`Unknown option "${rawName}". ${suggestOption(name, shapes)}`)
    const next = args[index + 1]
    if (value === undefined && option.words && next !== undefined && !next.startsWith('-')) {
      value = next
      wordIndex = index + 1
    }
    if (option.type === 'boolean' && value !== undefined && !option.words?.includes(value))
      throw createUsageProblem(
        option.words
          ? `${rawName} only accepts the value ${option.words.join(', ')}.`
          : `${rawName} doesn't take a value.`,
      )
    if (option.type === 'string' && (!value?.trim() || (!inlineValue && isOption(value, option))))
      throw createUsageProblem(`${rawName} needs a value, for example: ${rawName} ${option.example}`)
    const previous = valuesByName.get(name) ?? []
    if (!option.isList && previous.some((other) => other !== (value ?? '')))
      throw createUsageProblem(`${rawName} is set twice, to different values. Set it once.`)
    valuesByName.set(name, [...previous, value ?? ''])
  }
  return { values: valuesByName, positionals }
}

/** Returns whether a string is another option rather than the value of the option before it. */
const isOption = (value: string, { acceptsDash = false }: OptionShape) =>
  value.startsWith('-') && !(acceptsDash && /^-[\d.]*$/.test(value))

function suggestOption(name: string, shapes: object): string {
  const current = toCurrentFlag(name, Object.keys(shapes))
  if (current !== undefined) return `It was renamed. Use "--${current}".`
  const [suggestion] = findNearest(name, Object.keys(shapes), 1)
  return suggestion === undefined ? 'Use --help to list all options.' : `Did you mean "--${suggestion}"?`
}

/** Creates a problem for incorrect usage. */
export const createUsageProblem = (message: string): Problem => createProblem(message, { exitCode: 2 })

/** Throws a problem if a change has no fields. */
export function requireChange(input: object): void {
  if (Object.keys(input).length === 0)
    throw createUsageProblem('Nothing to update. Use --help to list what you can change.')
}
