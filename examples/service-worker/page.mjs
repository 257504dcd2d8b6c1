// A page that asks a model through the gateway in its service worker.
const { provider, baseUrl, apiKey, model, question, ask, stop } = document.querySelector('form').elements
const output = document.querySelector('output')
const status = document.querySelector('#status')
let connected = ''

async function startWorker() {
  if (!navigator.serviceWorker) throw new Error('Service workers need https, or localhost.')
  await navigator.serviceWorker.register('worker.js')
  if (navigator.serviceWorker.controller) return
  await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
}

/** Calls the gateway; throws what it says when it refuses. */
async function call(method, path, { body, signal } = {}) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`/ai${path}`, { method, headers, signal, body: body && JSON.stringify(body) })
  if (response.ok) return response
  const { error } = await response.json()
  throw new Error(error.message ?? error)
}

/** Makes the one connection that the form tells of. The browser stops an idle worker, and its memory is then empty. */
async function connect() {
  const isOwn = provider.value.includes('-compatible-')
  const wanted = {
    provider: provider.value,
    apiKey: apiKey.value,
    ...(isOwn && { providerSpecificData: { baseUrl: baseUrl.value, prefix: provider.value } }),
  }
  const { connections } = await (await call('GET', '/api/connections')).json()
  if (connections.length === 1 && connected === JSON.stringify(wanted)) return
  for (const { id } of connections) await call('DELETE', `/api/connections/${id}`)
  await call('POST', '/api/connections', { body: wanted })
  connected = JSON.stringify(wanted)
}

async function answer(signal) {
  const messages = [{ role: 'user', content: question.value }]
  const body = { model: `${provider.value}/${model.value}`, stream: true, messages }
  const response = await call('POST', '/v1/chat/completions', { body, signal })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const { choices, error } = JSON.parse(line.slice('data: '.length))
      if (error) throw new Error(error.message)
      output.append(choices?.[0]?.delta.content ?? '')
    }
  }
  return response.headers.get('x-signalbox-target')
}

async function onAsk(event) {
  event.preventDefault()
  const abort = new AbortController()
  stop.onclick = () => abort.abort()
  ask.disabled = true
  stop.disabled = false
  output.textContent = ''
  status.textContent = 'Asking …'
  try {
    await connect()
    status.textContent = `Answered by ${await answer(abort.signal)}.`
  } catch (error) {
    status.textContent = error.name === 'AbortError' ? 'Stopped.' : error.message
  }
  ask.disabled = false
  stop.disabled = true
}

function onProvider() {
  const [{ value, dataset }] = provider.selectedOptions
  const isOwn = value.includes('-compatible-')
  baseUrl.required = isOwn
  baseUrl.closest('label').hidden = !isOwn
  model.value = dataset.model
}

provider.addEventListener('change', onProvider)
onProvider()
try {
  await startWorker()
  document.querySelector('form').addEventListener('submit', onAsk)
  status.textContent = 'Ready.'
} catch (error) {
  status.textContent = error.message
}
