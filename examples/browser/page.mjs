// A page that chats with a model through the gateway in its service worker. The gateway stores the connection, and the chosen model as the alias
// `chat`.
const { provider, baseUrl, apiKey, model, question, ask, stop } = document.querySelector('form').elements
const [connection, chat, output, status] = ['details', 'ol', 'output', '#status'].map((selector) =>
  document.querySelector(selector),
)
const messages = []
let kept

async function startWorker() {
  if (!navigator.serviceWorker) throw new Error('Service workers need https, or localhost.')
  await navigator.serviceWorker.register('worker.js')
  if (navigator.serviceWorker.controller) return
  await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
}

/** Calls the gateway. Throws the gateway's error message if the call fails. */
async function call(method, path, { body, signal } = {}) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`/ai${path}`, { method, headers, signal, body: body && JSON.stringify(body) })
  if (response.ok) return response
  const { error } = await response.json()
  throw new Error(error.message ?? error)
}

/** Finds the connection that this page or another tab created. */
async function find() {
  const { connections } = await (await call('GET', '/api/connections')).json()
  return connections.find((each) => [...provider.options].some(({ value }) => value === each.provider))
}

async function restore() {
  kept = await find()
  if (!kept) return
  const { aliases } = await (await call('GET', '/api/models/aliases')).json()
  provider.value = kept.provider
  onProvider()
  baseUrl.value = kept.providerSpecificData?.baseUrl ?? ''
  model.value = aliases.chat?.slice(kept.provider.length + 1) ?? model.value
  connection.open = false
}

/** Replaces the stored connection with the one in the form if they differ. */
async function connect() {
  kept = await find()
  const isOwn = provider.value.includes('-compatible-')
  const isSame = kept?.provider === provider.value && (!isOwn || kept.providerSpecificData.baseUrl === baseUrl.value)
  if (!isSame || apiKey.value) {
    if (kept) await call('DELETE', `/api/connections/${kept.id}`)
    const providerSpecificData = { baseUrl: baseUrl.value, prefix: provider.value }
    const body = { provider: provider.value, apiKey: apiKey.value, ...(isOwn && { providerSpecificData }) }
    await call('POST', '/api/connections', { body })
    kept = await find()
    apiKey.value = ''
    await navigator.storage.persist() // without this, the browser may evict the data when disk space runs low
  }
  await call('PUT', '/api/models/aliases', { body: { alias: 'chat', model: `${provider.value}/${model.value}` } })
  onProvider()
  connection.open = false
}

async function answer(signal) {
  const body = { model: 'chat', stream: true, messages }
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

function add(role, content) {
  messages.push({ role, content })
  chat.append(Object.assign(document.createElement('li'), { className: role, textContent: content }))
}

/** Removes an unanswered question, so the user can ask it again. */
function takeBack() {
  messages.pop()
  chat.lastChild.remove()
}

async function onAsk(event) {
  event.preventDefault()
  const abort = new AbortController()
  stop.onclick = () => abort.abort()
  ask.disabled = true
  stop.disabled = false
  if (output.textContent) add('assistant', output.textContent)
  output.textContent = ''
  status.textContent = 'Asking …'
  try {
    await connect()
    add('user', question.value)
    status.textContent = `Answered by ${await answer(abort.signal)}.`
    question.value = ''
  } catch (error) {
    status.textContent = error.name === 'AbortError' ? 'Stopped.' : error.message
    if (!output.textContent && messages.at(-1)?.role === 'user') takeBack()
  }
  ask.disabled = false
  stop.disabled = true
}

/** Shows the fields that the chosen provider needs. Returns the suggested model. */
function onProvider() {
  const [{ value, dataset }] = provider.selectedOptions
  const isOwn = value.includes('-compatible-')
  const isKept = kept?.provider === value
  baseUrl.required = isOwn
  baseUrl.closest('label').hidden = !isOwn
  apiKey.required = !isKept
  apiKey.placeholder = isKept ? 'kept in this browser' : ''
  return dataset.model
}

const onChoice = () => {
  model.value = onProvider()
}
provider.addEventListener('change', onChoice)
onChoice()
try {
  await startWorker()
  await restore()
  document.querySelector('form').addEventListener('submit', onAsk)
  status.textContent = 'Ready.'
} catch (error) {
  status.textContent = error.message
}
