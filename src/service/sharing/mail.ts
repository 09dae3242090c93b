// Sends e-mails over SMTP.
import type { Transporter } from '../../vendor/mail.ts'

export interface Message {
  to: string
  subject: string
  text: string
  html?: string
  attachments?: { filename: string; content: Buffer; cid: string }[]
  /** The same for a repeated message. */
  messageId?: string
}

const EMAIL_PATTERN =
  /^[^\s@"<>(),:;\\[\]\u0000-\u001f\u007f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/

/** Returns whether a text is a single e-mail address, without a name. */
export function isEmailAddress(text: string): boolean {
  return EMAIL_PATTERN.test(text)
}

const SMTP_TIMEOUT_MS = 15_000

/** Sends e-mails over SMTP. Connects on first use. */
export class Mailer {
  private transport: Promise<Transporter> | undefined

  constructor(
    /** `smtp://user:password@host:587`, `smtps://…`. */
    private readonly smtp: string,
    /** Sender address. */
    private readonly from: string,
  ) {}

  async send(message: Message): Promise<void> {
    this.transport ??= import('../../vendor/mail.ts').then(({ createTransport }) =>
      createTransport(this.smtp, {
        connectionTimeout: SMTP_TIMEOUT_MS,
        greetingTimeout: SMTP_TIMEOUT_MS,
        socketTimeout: SMTP_TIMEOUT_MS,
      } as never),
    )
    // Pass the address as an object: in a string, a comma would separate several addresses.
    await (await this.transport).sendMail({
      ...message,
      to: { name: '', address: message.to },
      from: this.from,
    })
  }

  async close(): Promise<void> {
    ;(await this.transport?.catch(() => undefined))?.close()
  }
}
