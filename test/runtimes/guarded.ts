import { assert, suite } from '../support/suite.ts'

/** The outcome of `apps/guard-checks.mjs`. */
export const guardOutcome = {
  word: [400, '', null, 'refused; name=words'],
  own: [400, '', null, 'refused; name=own'],
  whole: [200, '', 'content_filter', 'refused; name=words'],
  stream: [200, 'One. ', 'content_filter', 'held'],
  mask: [200, 'Write to ann@example.com', 'stop', 'changed; name=personal-data'],
  'mask in a stream': [200, 'Write to ann@example.com', 'stop', 'changed; name=personal-data, held'],
}

/** Tests guards in a runtime. `run` returns the outcome of `apps/guard-checks.mjs`. */
export function addGuardTests(runtime: string, run: () => Promise<unknown>): void {
  suite(`guards in ${runtime}`)('guards reject, cut off, and mask content', async () => {
    assert.equal(await run(), guardOutcome)
  })
}
