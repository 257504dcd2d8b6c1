import { assert } from '../support/suite.ts'

/**
 * As long as the first requests of coding tools, because a runtime that notices disconnects for requests in one packet may miss them for longer ones.
 */
export const LONG_PROMPT = 'Hi '.repeat(7_000)

export const TOKEN = 'test-token-of-thirty-two-characters'

const long = { role: 'user', content: LONG_PROMPT }

/** Creates a client for the gateway at `url`, with the admin token. */
export function getClient(url: string) {
  const manage = (path: string, body?: object) =>
    fetch(`${url}/api${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })

  return {
    manage,
    /** Connects the gateway to a provider, which adds the model `up/m`. */
    async connect(baseUrl: string): Promise<void> {
      const created = await manage('/connections', {
        provider: 'openai-compatible-up',
        name: 'test',
        apiKey: 'sk-test',
        providerSpecificData: { baseUrl, prefix: 'up', enabledModels: ['m'] },
      })
      assert.is(created.status, 201, await created.text())
    },
    chat: (
      content: string,
      stream: boolean,
      { model = 'up/m', signal }: { model?: string; signal?: AbortSignal } = {},
    ) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }, long] }),
        ...(signal && { signal }),
      }),
  }
}
