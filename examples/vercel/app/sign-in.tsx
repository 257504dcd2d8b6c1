'use client'

import { useRouter } from 'next/navigation'
import { type FormEvent, useState } from 'react'
import { authClient } from '../lib/auth-client.ts'

export function SignIn() {
  const router = useRouter()
  const [isNew, setIsNew] = useState(false)
  const [error, setError] = useState<string>()
  const [isBusy, setIsBusy] = useState(false)

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [email, password] = [String(form.get('email')), String(form.get('password'))]
    setIsBusy(true)
    setError(undefined)
    const result = isNew
      ? await authClient.signUp.email({ email, password, name: String(form.get('name')) })
      : await authClient.signIn.email({ email, password })
    setIsBusy(false)
    if (result.error) setError(result.error.message ?? 'Something went wrong. Try again.')
    else router.refresh()
  }

  return (
    <main className="sign-in">
      <h1>{isNew ? 'Create an account' : 'Sign in'}</h1>
      <form onSubmit={submit}>
        {isNew && (
          <label>
            Name
            <input name="name" autoComplete="name" required />
          </label>
        )}
        <label>
          Email
          <input name="email" type="email" autoComplete="email" required />
        </label>
        <label>
          Password
          <input
            name="password"
            type="password"
            autoComplete={isNew ? 'new-password' : 'current-password'}
            minLength={8}
            required
          />
        </label>
        {error && <p role="alert">{error}</p>}
        <button type="submit" disabled={isBusy}>
          {isNew ? 'Create account' : 'Sign in'}
        </button>
      </form>
      <button type="button" className="link" onClick={() => setIsNew(!isNew)}>
        {isNew ? 'I have an account' : 'Create an account'}
      </button>
    </main>
  )
}
