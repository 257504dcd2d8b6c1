import { dashboard } from '../../src/features/dashboard/dashboard.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('paths that users guess')

async function output(path: string, options: Partial<GatewayOptions> = {}) {
  const { gateway } = openManagement(options)
  const reply = await gateway.fetch(new Request(`http://gateway.test${path}`, { method: 'POST', body: '{}' }))
  return `${reply.status} ${await reply.text()}`
}

test('AI SDK routes without the base path get an error with the right base URL', async () => {
  for (const route of ['language-model', 'embedding-model', 'image-model', 'speech-model', 'transcription-model'])
    for (const base of ['', '/v1', '/v2', '/v3', '/v4', '/ai', '/v1/ai', '/v1beta'])
      assert.match(await output(`${base}/${route}`), /^404 .*\/v4\/ai \(AI SDK 6: \/v3\/ai\)/s, `${base}/${route}`)
  assert.match(await output('/x/language-model', { basePath: '/x' }), ' /x/v4/ai (AI SDK 6: /x/v3/ai)')
})

test('the 404 for the dashboard or the metrics at a wrong path contains the right path', async () => {
  const server = { dashboard: dashboard(), observe: [prometheus()] }
  for (const path of ['/dashboard', '/dashboard/keys', '/ui'])
    assert.match(await output(path, server), 'The dashboard is at /admin/.', path)
  assert.match(await output('/x/dashboard', { ...server, basePath: '/x' }), 'The dashboard is at /x/admin/.')
  assert.match(await output('/metrics', { ...server, basePath: '/x' }), 'Metrics are at /x/metrics.')
  for (const path of ['/dashboard', '/admin', '/ui'])
    assert.match(await output(path), 'start signalbox with --dashboard', path)
  assert.match(await output('/metrics'), 'start signalbox with --metrics')
  assert.match(await output('/v1/metrics'), 'Metrics are at /metrics if enabled.')
  assert.match(await output('/v1/dashboard'), 'The dashboard is at /admin/ if enabled.')
})
