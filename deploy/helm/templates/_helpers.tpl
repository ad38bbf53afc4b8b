{{- define "koppelvlak.name" -}}
{{- if contains "koppelvlak" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-koppelvlak" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "koppelvlak.selector" -}}
app.kubernetes.io/name: koppelvlak
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "koppelvlak.labels" -}}
{{ include "koppelvlak.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "koppelvlak.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "koppelvlak.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "koppelvlak.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities:
  drop: [ALL]
{{- end }}

{{- define "koppelvlak.pull" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A secret as one file under /secrets. The argument: a list of the name of the file and the reference. */}}
{{- define "koppelvlak.secretFile" -}}
{{- $file := index . 0 }}{{ $ref := index . 1 -}}
- secret:
    name: {{ required (printf "secrets: a name for %s" $file) $ref.name }}
    items:
      - key: {{ $ref.key }}
        path: {{ $file }}
{{- end }}

{{/* A pod that runs one command and ends. The argument: dict root, args, secrets (file: reference), env (list of name/value). */}}
{{- define "koppelvlak.jobPod" -}}
{{- $root := .root -}}
metadata:
  labels:
    {{- include "koppelvlak.labels" $root | nindent 4 }}
    app.kubernetes.io/component: job
spec:
  restartPolicy: OnFailure
  automountServiceAccountToken: false
  {{- include "koppelvlak.pull" $root | nindent 2 }}
  securityContext:
    {{- include "koppelvlak.podSecurity" $root | nindent 4 }}
  containers:
    - name: koppelvlak
      image: {{ include "koppelvlak.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- with .command }}
      command: {{ toJson . }}
      {{- end }}
      {{- with .args }}
      args: {{ toJson . }}
      {{- end }}
      env:
        {{- range .env }}
        - name: {{ .name }}
          value: {{ .value | quote }}
        {{- end }}
      securityContext:
        {{- include "koppelvlak.containerSecurity" $root | nindent 8 }}
      resources:
        {{- toYaml $root.Values.resources | nindent 8 }}
      volumeMounts:
        - name: secrets
          mountPath: /secrets
          readOnly: true
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- range $file, $ref := .secrets }}
          {{- include "koppelvlak.secretFile" (list $file $ref) | nindent 10 }}
          {{- end }}
    - name: tmp
      emptyDir: {}
{{- end }}
