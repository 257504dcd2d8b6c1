/* Replaces `test/support/suite.ts` when the conformance suite runs in a browser. */

export * as assert from 'uvu/assert'

/** All test bodies, by suite and test name. */
export const tests = new Map<string, () => Promise<void>>()

export function suite(name: string) {
  return (title: string, body: () => Promise<void>) => void tests.set(`${name} › ${title}`, body)
}
