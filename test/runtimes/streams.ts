import { assert, type suite } from '../support/suite.ts'
import type { getClient } from './client.ts'
import type { startUpstream } from './upstream.ts'

interface Stage {
  client: ReturnType<typeof getClient>
  upstream: Awaited<ReturnType<typeof startUpstream>>
}

/** Tests that a stream reaches its client chunk by chunk as the provider sends it, and ends in the same way. */
export function addStreamTests(test: ReturnType<typeof suite>, stage: () => Stage): void {
  test("a stream's first chunk arrives before the provider has sent the last one", async () => {
    const { client, upstream } = stage()
    const response = await client.chat('held', true)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    let isReleased = false
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += part.value
      if (isReleased || !text.includes('"Hel"')) continue
      assert.not.match(text, '"lo"')
      isReleased = true
      upstream.release()
    }
    assert.ok(isReleased)
    assert.match(text, /"lo"[\s\S]*data: \[DONE\]\n\n$/)
  })

  test("a stream that the provider cuts off doesn't end normally", async () => {
    const response = await stage().client.chat('broken', true)
    const text = await response.text().catch(() => 'cut')
    assert.match(text, /^cut$|"error"/)
    assert.not.match(text, 'data: [DONE]')
  })
}
