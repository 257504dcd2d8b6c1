// Runs conformance tests on this page, in its service worker, or in both concurrently. Also provides the page actions that the adapter's tests need.
import { indexeddbStorage } from '../../../adapters/storage/indexeddb.ts'
import { setElsewhere } from '../indexeddb/conformance.ts'
import { runTest } from '../indexeddb/run.ts'

async function ask(message) {
  const { active } = await navigator.serviceWorker.ready
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data: { result, error } }) => {
      port1.close()
      error ? reject(Object.assign(new Error(error.message), { code: error.code })) : resolve(result)
    }
    active.postMessage(message, [port2])
  })
}

setElsewhere((call) => ask({ call }))

/** Wraps an IndexedDB request in a promise. */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** The storages and connections that a test has opened on this page. */
const opened = {}

globalThis.actions = {
  register: () =>
    navigator.serviceWorker
      .register('/worker.js')
      .then(() => navigator.serviceWorker.ready)
      .then(() => {}),
  page: (title) => runTest(`alone storage › ${title}`),
  worker: (title) => ask({ test: `alone storage › ${title}` }),
  both: (title) => runTest(`shared storage › ${title}`),
  memory: (title) => runTest(`memory storage › ${title}`),

  /** Opens a storage, and records the changes that its watcher receives. */
  open(name) {
    opened.storage = indexeddbStorage({ name })
    opened.received = []
    opened.storage.watch(
      (key) => opened.received.push(key),
      () => opened.received.push('gap'),
    )
  },

  received: () => opened.received,

  /** Returns a method's result, or its error. */
  call: (method, ...args) =>
    opened.storage[method](...args).then(
      (result) => ({ result }),
      ({ name, code, message }) => ({ name, code, message }),
    ),

  /** Opens a database and doesn't release it, like another program could. */
  async hold(name, version, stores = []) {
    const request = indexedDB.open(name, version)
    request.onupgradeneeded = () => {
      for (const store of stores) request.result.createObjectStore(store)
    }
    opened.database = await settled(request)
  },

  release: () => opened.database.close(),

  /** Keeps a transaction open until `leave` is called. Resolves when it has started. */
  async occupy() {
    const records = opened.database.transaction('records', 'readwrite').objectStore('records')
    opened.isOver = false
    const turn = () => {
      const request = records.get('')
      request.onsuccess = () => opened.isOver || turn()
      return request
    }
    const first = turn()
    await new Promise((resolve) => first.addEventListener('success', resolve))
  },

  leave() {
    opened.isOver = true
  },

  /** Truncates the change log to one entry, as if thousands had been added. */
  cutLog(key) {
    const changes = opened.database.transaction('changes', 'readwrite').objectStore('changes')
    changes.clear()
    return settled(changes.add({ key, writer: 'another' }))
  },

  /** Writes entries that no gateway writes: values of various types under string keys, and keys of other types. */
  plant() {
    const records = opened.database.transaction('records', 'readwrite').objectStore('records')
    const loop = {}
    loop.loop = loop
    const values = {
      text: 'text',
      number: 5,
      blank: null,
      none: undefined,
      loop,
      large: 5n,
      date: new Date(0),
      row: { value: 5 },
    }
    for (const [key, value] of Object.entries(values)) records.put(value, `foreign/${key}`)
    for (const key of [5, new Date(0), new Uint8Array([1]), ['key']]) records.put('value', key)
    return settled(records.put({ value: 'of a gateway', version: '1' }, 'foreign/last'))
  },

  count: (store) => settled(opened.database.transaction(store).objectStore(store).count()),

  /** Starts deleting a database. Returns whether another tab blocks it. */
  remove: (name) =>
    new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(name)
      request.onsuccess = () => resolve('deleted')
      request.onblocked = () => resolve('blocked')
      request.onerror = () => reject(request.error)
    }),

  names: () => indexedDB.databases().then((databases) => databases.map(({ name }) => name)),

  /** From now on, this page announces no changes, as if it were killed right after each write. */
  silence() {
    BroadcastChannel.prototype.postMessage = () => {}
  },

  /** Tries each way to read the secret. Returns how each one fails. */
  async exports() {
    const key = await opened.storage.ownSecret()
    const info = new Uint8Array(0)
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: info, info }
    const tries = {
      raw: () => crypto.subtle.exportKey('raw', key),
      jwk: () => crypto.subtle.exportKey('jwk', key),
      bits: () => crypto.subtle.deriveBits(hkdf, key, 256),
    }
    const results = await Promise.all(
      Object.entries(tries).map(async ([way, read]) => [
        way,
        await read().then(
          () => 'was read',
          ({ name }) => name,
        ),
      ]),
    )
    return Object.fromEntries(results)
  },
}
