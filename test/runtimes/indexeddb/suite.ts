/* What stands in for `test/support/suite.ts` where the conformance suite runs in a browser. */

export * as assert from 'uvu/assert'

/** The bodies of all tests by the name of their suite and their own. */
export const tests = new Map<string, () => Promise<void>>()

export function suite(name: string) {
  return (title: string, body: () => Promise<void>) => void tests.set(`${name} › ${title}`, body)
}
