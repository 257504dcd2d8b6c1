'use client'

import { useChat } from '@ai-sdk/react'
import { useRouter } from 'next/navigation'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { authClient } from '../lib/auth-client.ts'

export function Chat({ name, isAdmin }: { name: string; isAdmin: boolean }) {
  const router = useRouter()
  const { messages, sendMessage, status, stop, error } = useChat()
  const [input, setInput] = useState('')
  const end = useRef<HTMLDivElement>(null)
  const isBusy = status === 'submitted' || status === 'streaming'

  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls whenever the messages grow
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' })
  }, [messages, error])

  function submit(event: FormEvent) {
    event.preventDefault()
    if (isBusy || !input.trim()) return
    void sendMessage({ text: input })
    setInput('')
  }

  async function signOut() {
    await authClient.signOut()
    router.refresh()
  }

  return (
    <div className="chat">
      <header>
        <strong>Chat</strong>
        <nav>
          <span className="name">{name}</span>
          {isAdmin && <a href="/ai/admin/">Dashboard</a>}
          <button type="button" className="link" onClick={signOut}>
            Sign out
          </button>
        </nav>
      </header>
      <main>
        {messages.length === 0 && <p className="empty">Ask anything.</p>}
        {messages.map(({ id, role, parts }) => (
          <div key={id} className={`message ${role}`}>
            {parts.map((part) => (part.type === 'text' ? part.text : ''))}
          </div>
        ))}
        {status === 'submitted' && <p className="empty">Thinking…</p>}
        {error && <p role="alert">{error.message}</p>}
        <div ref={end} />
      </main>
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          placeholder="Send a message"
          value={input}
          onChange={(event) => setInput(event.target.value)}
        />
        {isBusy ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit" disabled={!input.trim()}>
            Send
          </button>
        )}
      </form>
    </div>
  )
}
