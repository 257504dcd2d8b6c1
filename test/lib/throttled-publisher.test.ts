import { createThrottledPublisher } from '../../src/lib/throttled-publisher.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the throttled publisher')

function start({ publishMs = 0, goesOn = false } = {}) {
  const clock = fakeClock()
  const startedAt = clock.now()
  const publishedAt: number[] = []
  const publisher = createThrottledPublisher(
    async () => {
      publishedAt.push(clock.now() - startedAt)
      await clock.sleep(publishMs)
      return goesOn
    },
    { clock, pauseMs: 100, heartbeatMs: 1_000 },
  )
  return { clock, publishedAt, publisher }
}

test('the first change is published immediately, and later ones together after a pause', async () => {
  const { clock, publishedAt, publisher } = start()
  publisher.schedule()
  assert.equal(publishedAt, [0])
  await clock.advance(30)
  publisher.schedule()
  publisher.schedule()
  await clock.advance(500)
  assert.equal(publishedAt, [0, 100])
  publisher.schedule()
  assert.equal(publishedAt, [0, 100, 530])
})

test('a change during a publication is published after it', async () => {
  const { clock, publishedAt, publisher } = start({ publishMs: 250 })
  publisher.schedule()
  await clock.advance(50)
  publisher.schedule()
  await clock.advance(1_000)
  assert.equal(publishedAt, [0, 250])
})

test('the state is republished without a change for as long as publish asks for it', async () => {
  const { clock, publishedAt, publisher } = start({ goesOn: true })
  publisher.schedule()
  await clock.advance(2_500)
  assert.equal(publishedAt, [0, 1_000, 2_000])
  publisher.schedule()
  await clock.advance(1_100)
  assert.equal(publishedAt, [0, 1_000, 2_000, 2_500, 3_500])
})

test('stop waits for an in-flight publication, and nothing is published afterward', async () => {
  const { clock, publishedAt, publisher } = start({ publishMs: 250, goesOn: true })
  publisher.schedule()
  await clock.advance(50)
  publisher.schedule()
  let isStopped = false
  void publisher.stop().then(() => {
    isStopped = true
  })
  await clock.advance(100)
  assert.is(isStopped, false)
  await clock.advance(5_000)
  assert.is(isStopped, true)
  publisher.schedule()
  await clock.advance(5_000)
  assert.equal(publishedAt, [0])
  assert.is(clock.pending(), 0)
})
