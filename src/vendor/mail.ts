export { createTransport, type Transporter } from 'nodemailer'
