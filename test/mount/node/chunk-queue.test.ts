import { ChunkQueue } from '../../../adapters/mount/node/chunk-queue.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('the body queue')

function queue() {
  const seen: string[] = []
  const body = new ChunkQueue({
    pause: () => seen.push('pause'),
    resume: () => seen.push('resume'),
    cancel: (reason) => seen.push(`cancel ${reason}`),
  })
  return { body, seen, push: (text: string) => body.push(Buffer.from(text)) }
}

const text = async (next: Promise<Uint8Array | undefined>) => Buffer.from((await next) ?? '(end)').toString()
const KIB_20 = 'x'.repeat(20 * 1024)

test('the body queue combines chunks that arrived together', async () => {
  const { body, push } = queue()
  const first = body.next()
  push('a')
  push('b')
  assert.is(await text(first), 'ab')
  push('c')
  push('d')
  assert.is(await text(body.next()), 'cd')
  const last = body.next()
  body.end()
  assert.is(await text(last), '(end)')
  assert.is(await text(body.next()), '(end)')
})

test('the body queue returns the entire body at once after it has ended', async () => {
  const { body, push } = queue()
  push('a')
  assert.is(body.whole(), undefined)
  push('b')
  body.end()
  assert.is(Buffer.from((await body.whole()) ?? '').toString(), 'ab')
  assert.is(await text(body.next()), '(end)')
})

test('the body queue returns no complete body after a cutoff, and an empty one after an empty end', async () => {
  const cut = queue()
  cut.push('half')
  cut.body.end(new Error('cut'))
  assert.is(cut.body.whole(), undefined)
  assert.is(await text(cut.body.next()), 'half')
  const empty = queue()
  empty.body.end()
  assert.is((await empty.body.whole())?.length, 0)
})

test('the body queue skips empty chunks', async () => {
  const { body, push } = queue()
  push('')
  const next = body.next()
  push('')
  push('a')
  assert.is(await text(next), 'a')
})

test('the body queue returns the chunks that arrived before it rejects', async () => {
  const { body, push } = queue()
  push('half')
  body.end(new Error('cut'))
  body.end()
  assert.is(await text(body.next()), 'half')
  for (let i = 0; i < 2; i += 1) assert.is((await body.next().catch((error) => error)).message, 'cut')
})

test('the body queue pauses its source when it is full, and resumes it after a read', async () => {
  const { body, seen, push } = queue()
  push('small')
  assert.equal(seen, [])
  push(KIB_20)
  push(KIB_20)
  assert.equal(seen, ['pause'])
  await body.next()
  assert.equal(seen, ['pause', 'resume'])
})

test("the body queue doesn't resume a source that has ended", async () => {
  const { body, seen, push } = queue()
  push(KIB_20)
  body.end()
  await body.next()
  assert.equal(seen, ['pause'])
})

test('the body queue drops the queued chunks when it is canceled', async () => {
  const { body, seen, push } = queue()
  push('a')
  body.cancel('enough')
  body.end(new Error('cancelled'))
  assert.equal(seen, ['cancel enough'])
  assert.is((await body.next().catch((error) => error)).message, 'cancelled')
})
