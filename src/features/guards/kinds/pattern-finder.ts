import type { Match } from './word-finder.ts'

/** The parts of `re2js` that guards use. */
export interface PatternLibrary {
  RE2JS: {
    compile(pattern: string, flags: number): { matcher(text: string): PatternMatcher }
    CASE_INSENSITIVE: number
    DOTALL: number
    MULTILINE: number
  }
}

interface PatternMatcher {
  find(): boolean
  start(): number
  end(): number
}

interface PatternSearch {
  /** Patterns in RE2 syntax. */
  patterns: readonly string[]
  /** `i`, `m`, and `s`, as in JavaScript. */
  flags: string
  /** The longest match, in characters. */
  maxMatch: number
}

/** Hides an import from bundlers, which would otherwise fail in apps that don't install the package. */
const importPackage = (name: string): Promise<PatternLibrary> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ name)

/**
 * Creates the function that finds the patterns' matches in linear time. Rejects with a TypeError that names the pattern if RE2 doesn't support it.
 * Rejects with an Error if the package `re2js` isn't installed.
 */
export async function createPatternFinder(
  { patterns, flags, maxMatch }: PatternSearch,
  library: Promise<PatternLibrary> = importPackage('re2js'),
) {
  const { RE2JS } = await library.catch((cause) => {
    throw new Error(
      'patterns() needs the package "re2js". Install it: npm install re2js. In a bundle, pass it: patterns(options, import("re2js")).',
      { cause },
    )
  })
  const flagBits =
    (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes('m') ? RE2JS.MULTILINE : 0) |
    (flags.includes('s') ? RE2JS.DOTALL : 0)
  const compiledPatterns = patterns.map((pattern, index) => {
    try {
      return RE2JS.compile(pattern, flagBits)
    } catch (error) {
      throw new TypeError(`patterns().patterns[${index}] is not valid in RE2 syntax: ${getErrorReason(error)}`)
    }
  })

  /** Finds matches in a string. In a piece, ignores a match at the end, because the next piece could extend it. */
  function find(text: string, isPiece = false): Match[] {
    const matches: Match[] = []
    for (const pattern of compiledPatterns) {
      const matcher = pattern.matcher(text)
      while (matcher.find()) {
        const start = matcher.start()
        const end = matcher.end()
        const canContinue = isPiece && end === text.length && end - start < maxMatch
        if (end > start && !canContinue) matches.push({ start, end, type: 'PATTERN' })
      }
    }
    return matches
  }
  return find
}

const getErrorReason = (error: unknown) =>
  error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
