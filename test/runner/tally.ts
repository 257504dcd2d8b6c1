import type { FileResult } from './pool.ts'

/**
 * Tags of skips that are allowed in CI, because they need files that can't be in the repository, or tools that aren't available on every platform.
 */
const ALLOWED_SKIP_TAGS = ['recordings:', 'tools:']

const SLOWEST_COUNT = 5

/** The maximum number of lines per failure in the summary, which repeats the failures because a long output may be truncated to its end. */
const SUMMARY_LINES = 20

export interface TallyOptions {
  /** Whether a skip without an allowed tag is a failure. */
  isCi: boolean
  write(line: string): void
}

/** Counts results, prints each file as it finishes, and ends with a line of counts for other programs. */
export function createTally({ isCi, write }: TallyOptions) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const files: Array<{ path: string; ms: number }> = []
  /** The skipped tests, by reason. */
  const skips = new Map<string, string[]>()
  const failures: string[] = []

  const fail = (title: string, text: string) => {
    counts.failed += 1
    failures.push(`✘ ${title}\n${text.replace(/^(?=.)/gm, '    ')}`)
    write(failures.at(-1) ?? '')
  }

  const add = ({ path, passed, failed, skipped, ms }: FileResult) => {
    files.push({ path, ms })
    counts.passed += passed.length
    const [first] = passed.length + failed.length === 0 ? skipped : []
    write(
      `${failed.length > 0 ? '✘' : first ? '–' : '✓'} ${path} (${first?.reason ?? `${passed.length} passed`}, ${seconds(ms)})`,
    )
    for (const { title, text } of failed) fail(`${path} › ${title}`, text)
    for (const { title, reason } of skipped) {
      const isAllowed = !isCi || ALLOWED_SKIP_TAGS.some((tag) => reason.startsWith(tag))
      if (isAllowed) {
        counts.skipped += 1
        skips.set(reason, [...(skips.get(reason) ?? []), `${path} › ${title}`])
      } else fail(`${path} › ${title}`, `skipped (${reason}): in continuous integration every test runs`)
    }
  }

  /** Prints the summary with the number of skipped files. Returns whether everything passed. */
  const close = (leftOut = { long: 0, heavy: 0 }): boolean => {
    const leftOutLine = describeLeftOut(leftOut)
    if (counts.passed + counts.failed + counts.skipped === 0) fail('no test', 'not one test ran')
    const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_COUNT)
    if (slowest.length > 1) write(`\nSlowest: ${slowest.map(({ path, ms }) => `${path} ${seconds(ms)}`).join(', ')}`)
    if (skips.size > 0) write(`\nSkipped:\n${[...skips].map(skipLine).join('\n')}`)
    if (failures.length > 0) write(`\nFailed:\n${failures.map(shorten).join('\n')}`)
    if (leftOutLine) write(`\n${leftOutLine}`)
    write(`${leftOutLine ? '' : '\n'}${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
    return counts.failed === 0
  }

  return { add, fail, close }
}

function shorten(text: string): string {
  const lines = text.trimEnd().split('\n')
  return lines.length > SUMMARY_LINES ? [...lines.slice(0, SUMMARY_LINES), '    …'].join('\n') : lines.join('\n')
}

/** Tests with the same skip reason, such as files that a clone doesn't have, share one line. */
function skipLine([reason, tests]: [reason: string, tests: string[]]): string {
  const [first = '', ...others] = tests
  const files = new Set(tests.map((test) => test.split(' › ')[0])).size
  return others.length === 0
    ? `- ${first}: ${reason}`
    : `- ${tests.length} tests in ${files} ${files === 1 ? 'file' : 'files'}: ${reason}`
}

function describeLeftOut({ long, heavy }: { long: number; heavy: number }): string | undefined {
  const parts = [
    ...(long > 0 ? [`${long} long test ${long === 1 ? 'file' : 'files'}`] : []),
    ...(heavy > 0 ? [`${heavy} test ${heavy === 1 ? 'file' : 'files'} with heavy packages`] : []),
  ]
  return parts.length > 0 ? `Left out: ${parts.join(' and ')}; \`npm test -- --all\` runs every test.` : undefined
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
